/**
 * `deno task build`: compiles assembly/ to assembly/build/kernel.wasm and the base64 module made from it.
 * With `--check` it builds elsewhere and fails when a byte differs from what is committed.
 *
 * @module
 */
