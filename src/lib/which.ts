// Finds programs on a search path.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Every place of the search path that holds this program, in order. Empty entries are ignored. */
export function whichAll(program: string, searchPath: string | undefined): string[] {
  return (searchPath ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, program))
    .filter(isExecutable);
}

/** The full path of a program, or undefined when the search path does not have it. */
export function which(program: string, searchPath: string | undefined): string | undefined {
  return whichAll(program, searchPath)[0];
}
