// Serves the built worker in workerd, as Cloudflare does; prints its address.
import process from "node:process";
import { compileConfig, startWorkerd, workerdBinary } from "../../support/workerd.mjs";

const [folder, name] = process.argv.slice(2);
const binary = await workerdBinary(name);
const { child, address } = await startWorkerd(compileConfig(folder, binary), binary);
console.log(address);
process.on("SIGTERM", () => child.kill());
child.on("exit", () => process.exit());
