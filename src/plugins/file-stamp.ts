// By what a file or folder is told apart from its earlier self.
import { type Stats, statSync } from "node:fs";

/** Of a file. */
export function fileStamp(info: Stats | undefined): string {
  return info ? `${info.mtimeMs}-${info.size}` : "none";
}

/** When a folder's list of names last changed; -1 when it is not there. */
export function modifiedTime(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -1;
}
