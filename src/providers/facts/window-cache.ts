// Reads and writes context_length_cache.yaml: context windows that servers reported, stored between runs.
import { readFile } from "node:fs/promises";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { withFileLock } from "../../lib/file-lock.ts";

const LINE = /^\s+(?:"((?:[^"\\]|\\.)+)"|'([^']+)'|(\S.*?)):\s*(\d+)\s*$/;

/** `"<model>@<base_url>"` → tokens. Lines of any other shape are ignored. */
export function parseWindowCache(text: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of text.split("\n")) {
    const match = LINE.exec(line);
    const key = match?.[1] ?? match?.[2] ?? match?.[3];
    if (match && key) found.set(key, Number(match[4]));
  }
  return found;
}

export async function readWindowCache(path: string): Promise<Map<string, number>> {
  try {
    return parseWindowCache(await readFile(path, "utf8"));
  } catch {
    // A missing or unreadable cache counts as empty.
    return new Map();
  }
}

export async function writeWindow(path: string, key: string, tokens: number): Promise<void> {
  await withFileLock(path, async () => {
    const cache = await readWindowCache(path);
    cache.set(key, tokens);
    const lines = [...cache].map(([name, value]) => `  ${JSON.stringify(name)}: ${value}\n`);
    await atomicWrite(path, `context_lengths:\n${lines.join("")}`, 0o600);
  });
}
