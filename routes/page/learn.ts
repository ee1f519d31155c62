/**
 * The learn page: the memory lab and its lessons.
 *
 * @module
 */
import { Lab } from "./lab/lab.ts";
import { byId } from "./ui/dom.ts";
import { startShell } from "./ui/shell.ts";

// Tools that load every module of the tree have no document.
if ("document" in globalThis) {
  startShell();
  new Lab(byId("lab")).start();
}
