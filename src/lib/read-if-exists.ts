// Files that are mostly not there.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** The text, or undefined when there is no such file. To ask costs microseconds; a read that fails, a thread and an error. */
export async function readIfThere(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
