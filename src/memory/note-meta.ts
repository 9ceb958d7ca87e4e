// When each note was written, by what, and when it was last shown to a model: a sidecar beside the notes.
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

/** Entries carry no id on disk, so their text is the key. */
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

  /** Brings the sidecar in line with `entries`: a new text inherits the birth date of the one it replaces. */
  async record(
    target: string,
    entries: readonly string[],
    change: { source: string; added?: string | undefined; replaced?: string },
  ) {
    const now = this.#now().toISOString();
    await this.#update((notes) => {
      const old = notes[target] ?? {};
      const kept: { [key: string]: NoteMeta } = {};
      for (const entry of entries) {
        const key = noteKey(entry);
        const known = old[key] ?? { created_at: now, updated_at: now, source: "file" };
        kept[key] = known;
        if (entry !== change.added) continue;
        const before = change.replaced === undefined ? undefined : old[noteKey(change.replaced)];
        kept[key] = { created_at: before?.created_at ?? now, updated_at: now, source: change.source };
      }
      notes[target] = kept;
    });
  }

  /** Marks entries as shown, at most once a day, so that opening a session rarely writes. */
  async used(target: string, entries: readonly string[]): Promise<void> {
    const today = this.#now().toISOString();
    const known = await this.get(target);
    const stale = entries.map(noteKey).filter((key) => known[key]?.last_used?.slice(0, 10) !== today.slice(0, 10));
    if (stale.length === 0) return;
    await this.#update((notes) => {
      const target_notes = notes[target] ?? {};
      for (const key of stale) {
        const note = target_notes[key] ?? { created_at: today, updated_at: today, source: "file" };
        target_notes[key] = { ...note, last_used: today };
      }
      notes[target] = target_notes;
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
