/**
 * `deno task audit`: asks for known vulnerabilities of every package of deno.lock, through `deno audit` or, where that
 * does not come through (a proxy's certificate, an internal registry), `npm audit`. An answer counts only from a
 * service that also knows a package with a published vulnerability: `deno audit` takes an empty answer, of a registry
 * that has no such service too, for "none found". Exit status 0 none, 1 some, 3 no service answers.
 *
 * @module
 */

/** A package at one version. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
}

/** What an auditor says. */
export type AuditAnswer = { readonly kind: "none" | "some" | "unanswered"; readonly text: string };

/** A program that asks an advisory service. */
interface Auditor {
  readonly command: readonly [string, ...string[]];
  /** The files that it takes the packages from. */
  readonly files: (packages: readonly LockedPackage[]) => Record<string, unknown>;
  /** What it prints when it has an answer that is not "none", exit status 1 in both cases. */
  readonly found: RegExp;
}

/** Vulnerable for certain: CVE-2020-7598 (GHSA-vh95-rmgr-6w4m), minimist before 0.2.1. */
const CONTROL: LockedPackage = { name: "minimist", version: "0.0.8" };

const AUDITORS: readonly Auditor[] = [
  {
    command: ["deno", "audit"],
    files: (packages) => {
      const specifiers = packages.map(({ name, version }) => `npm:${name}@${version}`);
      return {
        "deno.json": { imports: Object.fromEntries(specifiers.map((specifier, i) => [`p${i}`, specifier])) },
        "deno.lock": {
          version: "5",
          specifiers: Object.fromEntries(packages.map(({ version }, i) => [specifiers[i], version])),
          npm: Object.fromEntries(packages.map(({ name, version }) => [`${name}@${version}`, {}])),
          workspace: { dependencies: specifiers },
        },
      };
    },
    found: /Found \d+ vulnerabilities/,
  },
  {
    command: ["npm", "audit", "--package-lock-only"],
    files: (packages) => {
      // aliases, as one package may be there in two versions
      const dependencies = Object.fromEntries(
        packages.map(({ name, version }, i) => [`p${i}`, `npm:${name}@${version}`]),
      );
      const installed = packages.map(({ name, version }, i) => [`node_modules/p${i}`, { name, version }]);
      const root = { name: "audited", version: "0.0.0", dependencies };
      return {
        "package.json": root,
        "package-lock.json": { ...root, lockfileVersion: 3, packages: { "": root, ...Object.fromEntries(installed) } },
      };
    },
    found: /# npm audit report/,
  },
];

/** The packages of a deno.lock; a key there is name@version, with the versions of its peers after a "_". */
export function lockedPackages(lock: { readonly npm?: Readonly<Record<string, unknown>> }): LockedPackage[] {
  const packages = new Map<string, LockedPackage>();
  for (const key of Object.keys(lock.npm ?? {})) {
    const [, name, version] = /^(@?[^@]+)@([^_]+)/.exec(key)!;
    packages.set(`${name}@${version}`, { name, version });
  }
  return [...packages.values()];
}

/** What the first auditor that has a service says about the packages; `env` is for its process. */
export async function audit(
  packages: readonly LockedPackage[],
  env: Readonly<Record<string, string>> = {},
): Promise<AuditAnswer> {
  const reasons: string[] = [];
  for (const auditor of AUDITORS) {
    const control = await ask(auditor, [CONTROL], env);
    const answer = control.kind === "some" ? await ask(auditor, packages, env) : control;
    if (control.kind === "some" && answer.kind !== "unanswered") return answer;
    const what = control.kind === "none" ? `knows nothing of ${CONTROL.name} ${CONTROL.version}` : answer.text;
    reasons.push(`${auditor.command.slice(0, 2).join(" ")}: ${what}`);
  }
  return { kind: "unanswered", text: `no advisory service answers (${reasons.join("; ")})` };
}

async function ask(
  { command: [program, ...args], files, found }: Auditor,
  packages: readonly LockedPackage[],
  env: Readonly<Record<string, string>>,
): Promise<AuditAnswer> {
  const folder = await Deno.makeTempDir();
  try {
    for (const [name, content] of Object.entries(files(packages))) {
      await Deno.writeTextFile(`${folder}/${name}`, JSON.stringify(content));
    }
    const options = { args, cwd: folder, env: { ...env, NO_COLOR: "1" }, signal: AbortSignal.timeout(60_000) };
    const output = await new Deno.Command(program, options).output();
    const text = new TextDecoder().decode(output.stdout).trim();
    if (output.code === 0) return { kind: "none", text };
    if (found.test(text)) return { kind: "some", text };
    return { kind: "unanswered", text: firstError(new TextDecoder().decode(output.stderr)) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { kind: "unanswered", text: `${program} is not installed` };
    if (error instanceof Deno.errors.NotCapable) return { kind: "unanswered", text: `${program} may not be run` };
    throw error;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The line that says why; addresses of registries, which may be internal, are left out. */
function firstError(stderr: string): string {
  const line = stderr.split("\n").find((text) => /error|warn/.test(text)) ?? "no answer";
  return line.replace(/^(npm )?(error|warn)( audit|:)? ?/, "").replace(/ ?\(?https?:\S+/, "").trim();
}

/** Why the audit cannot be run here, or null. */
export async function whyNoAudit(): Promise<string | null> {
  const { kind, text } = await audit([CONTROL]);
  return kind === "unanswered" ? text : null;
}

if (import.meta.main) {
  const packages = lockedPackages(JSON.parse(await Deno.readTextFile(new URL("../../deno.lock", import.meta.url))));
  const { kind, text } = await audit(packages);
  console.log(kind === "unanswered" ? `Cannot audit: ${text}` : `${packages.length} packages: ${text}`);
  Deno.exit({ none: 0, some: 1, unanswered: 3 }[kind]);
}
