/**
 * Hands a file to the user.
 *
 * @module
 */
import { h } from "../ui/dom.ts";

/** How long the file's address stays valid, ms: until the browser has begun to save it. */
const KEPT_MS = 60_000;

/** Lets the browser save a file under a name. */
export function download(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = h("a", { href: url, download: name.replaceAll(/[^\w.-]+/g, "_") });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS);
}
