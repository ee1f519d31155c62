/** A .wasm file as bundlers for edge runtimes import it: a compiled module. */
declare const kernel: WebAssembly.Module;
export default kernel;
