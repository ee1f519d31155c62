/**
 * `@std/assert` from the npm registry: npm:deno-std carries the same code as jsr:@std/assert.
 * Where JSR is reachable, map `"@std/assert": "jsr:@std/assert@^1"` in deno.json instead; nothing else changes.
 *
 * @module
 */
// @ts-types="./std_assert.d.ts"
export * from "npm:deno-std@1.4.0/assert/mod.js";
