/**
 * How memory becomes pools, and the query that asks for it.
 *
 * @module
 */
export { sizing } from "../../src/spark/sizing.ts";
export { SIZING_OPTIONS, sizingOptions } from "../sizing_query.ts";
