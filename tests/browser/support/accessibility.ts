/**
 * axe-core on a page.
 *
 * @module
 */
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: {
    readonly target: string[];
    readonly failureSummary: string;
  }[];
}

/**
 * What axe-core finds by WCAG 2.2 AA and its best practices, at impact "moderate" or above, one line each.
 * Evaluated by the debugger's protocol, which the page's Content-Security-Policy does not concern.
 */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(await Deno.readTextFile(AXE));
  const violations = await page.evaluate(
    "axe.run(document).then((result) => result.violations)",
  ) as Violation[];
  return violations
    .filter(({ impact }) => impact !== "minor")
    .flatMap(({ id, impact, nodes }) =>
      nodes.map((node) => `${id} (${impact}): ${node.target.join(" ")}: ${node.failureSummary}`)
    );
}
