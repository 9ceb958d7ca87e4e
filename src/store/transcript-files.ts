// The optional files that belong to a session, in `<home>/sessions/`.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Removes `<id>.json`, `<id>.jsonl`, `session_<id>.json` and `request_dump_<id>_*.json`. Missing and locked files are skipped. */
export async function removeTranscriptFiles(sessionsDir: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const names = await readdir(sessionsDir).catch(() => []);
  const wanted = new Set(ids);
  const files = names.filter((name) => wanted.has(parseSessionId(name, wanted) ?? ""));
  // A file that cannot be removed is not worth failing a delete that has already happened.
  await Promise.allSettled(files.map((name) => rm(join(sessionsDir, name), { force: true })));
}

function parseSessionId(name: string, ids: ReadonlySet<string>): string | undefined {
  const transcript = /^(.*)\.jsonl?$/s.exec(name)?.[1];
  // The log that v0.14 keeps of a conversation has a prefix, and would survive a deletion there.
  for (const id of [transcript, transcript?.replace(/^session_/, "")]) if (id !== undefined && ids.has(id)) return id;
  if (!name.startsWith("request_dump_") || !name.endsWith(".json")) return undefined;
  const rest = name.slice("request_dump_".length);
  // Ids may hold underscores themselves, so every place where one could end is tried.
  for (let end = rest.indexOf("_"); end >= 0; end = rest.indexOf("_", end + 1)) {
    if (ids.has(rest.slice(0, end))) return rest.slice(0, end);
  }
  return undefined;
}
