/**
 * The command `sparkmem` of the npm package: the command line on Node.
 *
 * @module
 */
import "./deno_on_node.ts";
import process from "node:process";
import { denoIo } from "../io.ts";
import { runMain } from "../main.ts";

process.exitCode = await runMain(process.argv.slice(2), denoIo());
