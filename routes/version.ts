/**
 * The version of the project, as deno.json has it (a test keeps them equal).
 *
 * @module
 */

/** Version of the service and of its OpenAPI document. */
export const VERSION = "0.1.0";
