// Unix sockets of this machine: a read-only mount does not stop a connection to them, so they are hidden one by one.
import { existsSync, readFileSync } from "node:fs";

const MAX_SOCKETS = 300;

/** The paths of all listening sockets that exist as files. */
export function socketPaths(table = "/proc/net/unix"): string[] {
  let text: string;
  try {
    text = readFileSync(table, "utf8");
  } catch {
    // There is no such table on this system.
    return [];
  }
  const paths = new Set<string>();
  for (const line of text.split("\n")) {
    const path = line.slice(line.indexOf(" /") + 1);
    if (path.startsWith("/") && line.includes(" /") && paths.size < MAX_SOCKETS) paths.add(path.trimEnd());
  }
  return [...paths].filter((path) => existsSync(path));
}
