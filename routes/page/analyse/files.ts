/**
 * The files that a user drops or chooses: single files, several, a folder with its content.
 *
 * @module
 */
import type { LogFile } from "../protocol.ts";

/** More files than this are no event log. */
const MAX_FILES = 10_000;

/** Files that systems put into folders and archives. */
function isNoise(name: string): boolean {
  return /(^|\/)(\.|__MACOSX)/.test(name);
}

/** The chosen files; those of a folder have their path as the name. */
export function chosenFiles(list: FileList): LogFile[] {
  return [...list]
    .map((file) => ({ name: file.webkitRelativePath || file.name, file }))
    .filter(({ name }) => !isNoise(name));
}

/** What was dropped, folders with all that is in them. The transfer is only readable during the event. */
export async function droppedFiles(transfer: DataTransfer): Promise<LogFile[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (entries.every((entry) => entry === null)) return chosenFiles(transfer.files);
  const found: LogFile[] = [];
  for (const entry of entries) if (entry !== null) await collect(entry, found);
  return found;
}

async function collect(entry: FileSystemEntry, found: LogFile[]): Promise<void> {
  if (found.length >= MAX_FILES || isNoise(entry.fullPath)) return;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ name: entry.fullPath.replace(/^\//, ""), file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // A reader gives some entries at a time and nothing at the end.
  while (true) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return;
    for (const child of some) await collect(child, found);
  }
}
