// Remembers removed jobs for a while: an agent asks before it creates one of them again.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Job } from "../core/job.ts";
import type { JobInput } from "../core/job-service.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { withFileLock } from "../lib/file-lock.ts";
import { parseJson } from "../lib/json/parse-json.ts";

const RETENTION_MS = 180 * 86_400_000;
const MAX_ENTRIES = 500;
const MAX_WORDS = 200;
/** Prompts that share this fraction of their words count as the same task. */
const MIN_SIMILARITY = 0.6;
const FEW_WORDS = 4;

export interface RemovedJob {
  readonly name: string;
  /** Milliseconds. */
  readonly at: number;
  readonly script: string | null;
  /** Hashes of the words of the prompt, so that the prompt itself is not stored. */
  readonly words: readonly string[];
}

type Task = Pick<JobInput, "name" | "prompt"> & { readonly script?: string | null | undefined };

function normalize(text: string): string {
  return text.trim().toLowerCase().replaceAll(/\s+/g, " ");
}

function hashWords(prompt: string): readonly string[] {
  const words = new Set(normalize(prompt).match(/[\p{L}\p{N}]+/gu) ?? []);
  const hash = (word: string) => createHash("sha256").update(word).digest("hex").slice(0, 8);
  return [...words].slice(0, MAX_WORDS).map(hash);
}

function areSimilar(a: readonly string[], b: readonly string[]): boolean {
  if (a.length === 0 || b.length === 0) return false;
  const other = new Set(b);
  const shared = a.filter((word) => other.has(word)).length;
  // Very short prompts must have the same words.
  const wanted = Math.min(a.length, b.length) < FEW_WORDS ? 1 : MIN_SIMILARITY;
  return shared / (a.length + b.length - shared) >= wanted;
}

function isSame(removed: RemovedJob, task: Task): boolean {
  if (task.name && normalize(task.name) === normalize(removed.name)) return true;
  if (task.script && task.script === removed.script) return true;
  return areSimilar(removed.words, hashWords(task.prompt ?? ""));
}

function isEntry(value: unknown): value is RemovedJob {
  const entry = value as Partial<RemovedJob> | null;
  return typeof entry?.name === "string" && typeof entry.at === "number" && Array.isArray(entry.words);
}

export class RemovedJobs {
  readonly #path: string;
  readonly #now: () => number;

  constructor(folder: string, now: () => number) {
    this.#path = join(folder, "removed.json");
    this.#now = now;
  }

  async #read(): Promise<readonly RemovedJob[]> {
    const text = await readFile(this.#path, "utf8").catch(() => "[]");
    const parsed = parseJson(text);
    const entries = Array.isArray(parsed) ? parsed.filter(isEntry) : [];
    return entries.filter((entry) => this.#now() - entry.at < RETENTION_MS);
  }

  async #change(change: (entries: readonly RemovedJob[]) => readonly RemovedJob[]): Promise<void> {
    await withFileLock(this.#path, async () => {
      const entries = await this.#read();
      const next = change(entries);
      if (next.length === entries.length && next.every((entry, index) => entry === entries[index])) return;
      await atomicWrite(this.#path, `${JSON.stringify(next.slice(-MAX_ENTRIES), null, 1)}\n`, 0o600);
    });
  }

  async add(job: Job): Promise<void> {
    const entry = { name: job.name, at: this.#now(), script: job.script, words: hashWords(job.prompt) };
    await this.#change((entries) => [...entries, entry]);
  }

  /** The newest removed job that is similar to the task. */
  async findSimilar(task: Task): Promise<RemovedJob | undefined> {
    return (await this.#read()).findLast((removed) => isSame(removed, task));
  }

  /** Deletes the entries of similar jobs after one was created again. */
  async forget(task: Task): Promise<void> {
    if (await this.findSimilar(task))
      await this.#change((entries) => entries.filter((removed) => !isSame(removed, task)));
  }
}
