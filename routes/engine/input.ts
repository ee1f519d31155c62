/**
 * JSON read strictly and checked against a schema.
 *
 * @module
 */
export { checkInput } from "../../src/workload/check_input.ts";
export { parseStrictJson } from "../../src/workload/strict_json.ts";
