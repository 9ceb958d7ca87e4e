// Stores when and by what each note was written, and when it was last shown to a model, in a file beside the notes.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { atomicWrite } from "../lib/atomic-write.ts";
import { withFileLock } from "../lib/file-lock.ts";
import { parseJson } from "../lib/json/parse-json.ts";

/** Times are ISO 8601. */
export interface NoteMeta {
  readonly created_at: string;
  readonly updated_at: string;
  readonly source: string;
  readonly last_used?: string | undefined;
}

type Sidecar = { [target: string]: { [key: string]: NoteMeta } };

/** Notes have no id in the file, so the key is a hash of the text. */
export function noteKey(entry: string): string {
  return createHash("sha256").update(entry).digest("hex").slice(0, 16);
}

async function read(path: string): Promise<Sidecar> {
  const text = await readFile(path, "utf8").catch(() => "");
  const value = parseJson(text) as { notes?: Sidecar | undefined } | null | undefined;
  return typeof value?.notes === "object" && value.notes !== null ? value.notes : {};
}

export class NoteMetaFile {
  readonly #path: string;
  readonly #now: () => Date;

  constructor(dir: string, now: () => Date) {
    this.#path = join(dir, ".meta.json");
    this.#now = now;
  }

  async get(target: string): Promise<{ readonly [key: string]: NoteMeta }> {
    return (await read(this.#path))[target] ?? {};
  }

  /** Updates the file to match `entries`. A replaced note keeps the creation date of the old text. */
  async record(
    target: string,
    entries: readonly string[],
    change: { source: string; added?: string | undefined; replaced?: string | undefined },
  ) {
    const now = this.#now().toISOString();
    await this.#update((notes) => {
      const old = notes[target] ?? {};
      const next: { [key: string]: NoteMeta } = {};
      for (const entry of entries) {
        const key = noteKey(entry);
        const known = old[key] ?? { created_at: now, updated_at: now, source: "file" };
        next[key] = known;
        if (entry !== change.added) continue;
        const before = change.replaced === undefined ? undefined : old[noteKey(change.replaced)];
        next[key] = { created_at: before?.created_at ?? now, updated_at: now, source: change.source };
      }
      notes[target] = next;
    });
  }

  /** Records that entries were shown; writes at most once a day. */
  async markUsed(target: string, entries: readonly string[]): Promise<void> {
    const today = this.#now().toISOString();
    const known = await this.get(target);
    const stale = entries.map(noteKey).filter((key) => known[key]?.last_used?.slice(0, 10) !== today.slice(0, 10));
    if (stale.length === 0) return;
    await this.#update((notes) => {
      const own = notes[target] ?? {};
      for (const key of stale) {
        const note = own[key] ?? { created_at: today, updated_at: today, source: "file" };
        own[key] = { ...note, last_used: today };
      }
      notes[target] = own;
    });
  }

  async #update(change: (notes: Sidecar) => void): Promise<void> {
    await withFileLock(this.#path, async () => {
      const notes = await read(this.#path);
      change(notes);
      await atomicWrite(this.#path, `${JSON.stringify({ version: 1, notes }, null, 2)}\n`);
    });
  }
}
