// Values that change when a file or folder changes.
import { type Stats, statSync } from "node:fs";

export function fileStamp(info: Stats | undefined): string {
  return info ? `${info.mtimeMs}-${info.size}` : "none";
}

/** The modification time; -1 when the path does not exist. */
export function modifiedTime(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? -1;
}
