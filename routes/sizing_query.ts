/**
 * The query of `GET /v1/sizing`.
 *
 * @module
 */
import { InputError } from "../src/errors.ts";
import { SparkConf } from "../src/spark/conf.ts";
import type { HeapCommitted } from "../src/spark/heap.ts";
import type { Role, SizingOptions } from "../src/spark/sizing.ts";
import { parseSparkVersion, REFERENCE_SPARK_VERSION } from "../src/spark/spark_version.ts";
import type { Collector } from "../src/spark/versions.ts";

/** Query parameters that are Spark properties begin with this. */
const PROPERTY = "spark.";

/** What `GET /v1/sizing` takes besides Spark properties. */
export const SIZING_OPTIONS = {
  role: {
    description: "Whose memory",
    schema: { type: "string", enum: ["executor", "driver"], default: "executor" },
    example: "executor",
  },
  heapMax: {
    description: "Runtime.maxMemory of the JVM in bytes, where it is known",
    schema: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    example: 954728448,
  },
  collector: {
    description: "The JVM's collector; without it parallel before Spark 3.0, g1 from then on",
    schema: { type: "string", enum: ["g1", "parallel", "serial", "zgc", "shenandoah"] },
    example: "g1",
  },
  heapCommitted: {
    description: "full where -Xms is -Xmx",
    schema: { type: "string", enum: ["small", "full"], default: "small" },
    example: "small",
  },
  sparkVersion: {
    description: "Whose rules and defaults",
    schema: { type: "string", default: REFERENCE_SPARK_VERSION },
    example: "3.5.1",
  },
} as const;

/** The query of `GET /v1/sizing`. */
export interface SizingQuery extends Partial<Record<keyof typeof SIZING_OPTIONS, string>> {
  readonly conf: Readonly<Record<string, string>>;
}

/**
 * Reads a query: Spark properties under their own names, and SIZING_OPTIONS.
 *
 * @throws {InputError} `request.query`
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { sizingOptions } from "./sizing_query.ts";
 *
 * const { conf, role } = sizingOptions({ "spark.executor.memory": ["4g"], role: ["driver"] });
 * assertEquals([conf.get("spark.executor.memory"), role], ["4g", "driver"]);
 * assertThrows(() => sizingOptions({ role: ["boss"] }), TypeError, "must be one of executor, driver");
 * ```
 */
export function sizingOptions(queries: Readonly<Record<string, readonly string[]>>): SizingOptions {
  const query: Partial<Record<keyof typeof SIZING_OPTIONS, string>> = {};
  const properties: Record<string, string> = {};
  for (const [name, values] of Object.entries(queries)) {
    if (values.length > 1) throw queryError(name, "be given once", `${values.length} values`);
    if (name.startsWith(PROPERTY)) properties[name] = values[0];
    else if (Object.hasOwn(SIZING_OPTIONS, name)) query[name as keyof typeof SIZING_OPTIONS] = values[0];
    else throw queryError(name, `be a property (spark...) or one of ${Object.keys(SIZING_OPTIONS).join(", ")}`, "it");
  }
  const chosen = <T extends string>(name: "role" | "collector" | "heapCommitted"): T | undefined => {
    const value = query[name];
    const { enum: choices } = SIZING_OPTIONS[name].schema;
    if (value === undefined || (choices as readonly string[]).includes(value)) return value as T | undefined;
    throw queryError(name, `be one of ${choices.join(", ")}`, value);
  };
  const { heapMax } = query;
  if (heapMax !== undefined && !(/^\d{1,16}$/.test(heapMax) && Number.isSafeInteger(Number(heapMax)))) {
    throw queryError("heapMax", "be bytes, a whole number below 2^53", heapMax);
  }
  const version = query.sparkVersion ?? REFERENCE_SPARK_VERSION;
  if (parseSparkVersion(version) === null) throw queryError("sparkVersion", "be a version such as 3.5.1", version);
  return {
    conf: SparkConf.from(properties, version),
    role: chosen<Role>("role"),
    heapMax: heapMax === undefined ? undefined : Number(heapMax),
    collector: chosen<Collector>("collector"),
    heapCommitted: chosen<HeapCommitted>("heapCommitted"),
  };
}

function queryError(name: string, must: string, received: string): InputError {
  const shown = received.slice(0, 80);
  const named = name.slice(0, 80);
  return new InputError("request.query", `Cannot use the query: ${named}: must ${must}: received ${shown}`, {
    parameters: { name: named, received: shown },
  });
}
