/**
 * The analyse page: drop a log, read the verdict, change a setting.
 *
 * @module
 */
import { startShell } from "./ui/shell.ts";

startShell();
