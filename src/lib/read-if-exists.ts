// Reads optional files.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Undefined when the file does not exist. Checking first is much cheaper than a failed read. */
export async function readIfExists(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
