/**
 * The learn page: the memory lab and its lessons.
 *
 * @module
 */
import { startShell } from "./ui/shell.ts";

startShell();
