// Caches the prompt index with the times of its files and folders, so that it is validated without opening files.
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { atomicWrite } from "../lib/atomic-write.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import type { Survey } from "./find.ts";

const FILE = "skills-index.json";
const VERSION = 1;
const MAX_TEXTS = 8;
/** A file that changed this recently could change again without a new time. */
const SETTLED_MS = 200;

interface CachedIndex {
  readonly version: number;
  readonly roots: readonly string[];
  /** Folder and time, which changes with an added, removed or renamed entry. */
  readonly folders: readonly (readonly [string, number])[];
  /** File, time and size, which change with an edit. */
  readonly files: readonly (readonly [string, number, number])[];
  readonly texts: { readonly [key: string]: string };
}

function isCurrent(cached: CachedIndex): boolean {
  for (const [path, time] of cached.folders) {
    if (statSync(path, { throwIfNoEntry: false })?.mtimeMs !== time) return false;
  }
  for (const [path, time, size] of cached.files) {
    const info = statSync(path, { throwIfNoEntry: false });
    if (info?.mtimeMs !== time || info.size !== size) return false;
  }
  return true;
}

export class PromptIndexCache {
  readonly #path: string;
  #last: { readonly stamp: string; readonly cached: CachedIndex | undefined } | undefined;

  constructor(home: string) {
    this.#path = join(home, "cache", FILE);
  }

  /** The cached index for these roots and this view; undefined when something changed since. */
  async find(roots: readonly string[], view: unknown): Promise<string | undefined> {
    const cached = await this.#read();
    if (!cached || cached.roots.join("\0") !== roots.join("\0")) return undefined;
    const text = cached.texts[viewKey(view)];
    return text !== undefined && isCurrent(cached) ? text : undefined;
  }

  /** Keeps other views of the same state. A failed write is ignored. */
  async keep(surveys: readonly Survey[], view: unknown, text: string): Promise<void> {
    const now = Date.now();
    const folders = surveys.flatMap((survey) => survey.folders.map(({ path, mtimeMs }) => [path, mtimeMs] as const));
    const files = surveys.flatMap((survey) =>
      survey.files.map(({ path, mtimeMs, size }) => [path, mtimeMs, size] as const),
    );
    if ([...folders, ...files].some(([, time]) => now - time < SETTLED_MS)) return;
    const roots = surveys.map((survey) => survey.root);
    const before = await this.#read();
    const same = before && JSON.stringify([before.folders, before.files]) === JSON.stringify([folders, files]);
    const older = same ? Object.entries(before.texts).slice(1 - MAX_TEXTS) : [];
    const texts = { ...Object.fromEntries(older), [viewKey(view)]: text };
    const cached: CachedIndex = { version: VERSION, roots, folders, files, texts };
    await atomicWrite(this.#path, JSON.stringify(cached)).catch(() => undefined);
  }

  /** Reads the file only when it has changed, because every new conversation needs the index. */
  async #read(): Promise<CachedIndex | undefined> {
    const info = statSync(this.#path, { throwIfNoEntry: false });
    const stamp = info ? `${info.ino} ${info.mtimeMs} ${info.size}` : "";
    if (this.#last?.stamp !== stamp) {
      const cached = parseJson(await readFile(this.#path, "utf8").catch(() => "")) as CachedIndex | undefined | null;
      const whole = cached?.version === VERSION && Array.isArray(cached.folders) && Array.isArray(cached.files);
      this.#last = { stamp, cached: whole ? cached : undefined };
    }
    return this.#last.cached;
  }
}

function viewKey(view: unknown): string {
  return createHash("sha256").update(JSON.stringify(view)).digest("hex").slice(0, 32);
}
