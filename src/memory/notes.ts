// The built-in memory: two note files with size limits, one about the work, one about the user.
import { join } from "node:path";
import { noScan, type Scan } from "../core/scan.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { withFileLock } from "../lib/file-lock.ts";
import { readIfExists } from "../lib/read-if-exists.ts";
import { entrySize, joinEntries, parseEntries } from "./entries.ts";
import { type NoteMeta, NoteMetaFile } from "./note-meta.ts";

export type NoteTarget = "memory" | "user";

export interface NotesOptions {
  /** `<home>/memories`. */
  readonly dir: string;
  readonly memoryEnabled?: boolean | undefined;
  readonly userEnabled?: boolean | undefined;
  readonly memoryLimit?: number | undefined;
  readonly userLimit?: number | undefined;
  readonly scan?: Scan | undefined;
  readonly now?: (() => Date) | undefined;
}

export interface NotesSuccess {
  readonly success: true;
  readonly target: NoteTarget;
  readonly entries: readonly string[];
  readonly usage: string;
  readonly entry_count: number;
  readonly message: string;
}

export interface NotesRefusal {
  readonly success: false;
  readonly error: string;
  readonly current_entries?: readonly string[] | undefined;
  readonly matches?: readonly string[] | undefined;
  readonly usage?: string | undefined;
}

export type NotesResult = NotesSuccess | NotesRefusal;

/** The result of a write; `removed` is the text that was removed or replaced. */
export interface NotesChange {
  readonly result: NotesResult;
  readonly changed: boolean;
  readonly removed?: string | undefined;
}

const RULE = "═".repeat(46);
const PREVIEW_CHARS = 80;
const FILES = { memory: "MEMORY.md", user: "USER.md" } as const;
const TITLES = { memory: "MEMORY (your personal notes)", user: "USER PROFILE (who the user is)" } as const;
const TARGETS = ["memory", "user"] as const;

const count = (value: number) => value.toLocaleString("en-US");
const preview = (entry: string) => (entry.length > PREVIEW_CHARS ? `${entry.slice(0, PREVIEW_CHARS)}...` : entry);
const refuse = (error: string, more: Partial<NotesRefusal> = {}): NotesChange => ({
  changed: false,
  result: { success: false, error, ...more },
});

export class Notes {
  readonly #options: NotesOptions;
  readonly #scan: Scan;
  readonly #meta: NoteMetaFile;

  constructor(options: NotesOptions) {
    this.#options = options;
    this.#scan = options.scan ?? noScan;
    this.#meta = new NoteMetaFile(options.dir, options.now ?? (() => new Date()));
  }

  enabled(target: NoteTarget): boolean {
    return (target === "memory" ? this.#options.memoryEnabled : this.#options.userEnabled) ?? true;
  }

  limit(target: NoteTarget): number {
    return target === "memory" ? (this.#options.memoryLimit ?? 2_200) : (this.#options.userLimit ?? 1_375);
  }

  /** The entries in the file. */
  async entries(target: NoteTarget): Promise<string[]> {
    return parseEntries((await readIfExists(this.#path(target))) ?? "");
  }

  meta(target: NoteTarget): Promise<{ readonly [key: string]: NoteMeta }> {
    return this.#meta.get(target);
  }

  /**
   * The blocks for the system prompt. The files may have been edited by hand: suspicious text is quarantined, and
   * entries beyond the limit are not shown.
   */
  async snapshot(): Promise<string> {
    const blocks = await Promise.all(
      TARGETS.map(async (target) => {
        const entries = this.enabled(target) ? await this.entries(target) : [];
        return entries.length > 0 ? this.#block(target, entries) : "";
      }),
    );
    return blocks.filter((block) => block !== "").join("\n\n");
  }

  /** Records that the entries were shown; writes at most once a day. */
  async markUsed(): Promise<void> {
    for (const target of TARGETS) {
      if (!this.enabled(target)) continue;
      const entries = await this.entries(target);
      if (entries.length > 0) await this.#meta.markUsed(target, entries);
    }
  }

  add(target: NoteTarget, content: string, source: string): Promise<NotesChange> {
    return this.#write(target, source, (entries) => {
      const entry = content.trim();
      if (entry === "") return refuse("Content cannot be empty.");
      if (entries.includes(entry)) return this.#done(target, entries, "The entry is already there; nothing was added.");
      return this.#check(target, { next: [...entries, entry], entry, entries }, "Entry added.");
    });
  }

  replace(target: NoteTarget, change: { oldText: string; content: string }, source: string): Promise<NotesChange> {
    return this.#write(target, source, (entries) => {
      const entry = change.content.trim();
      if (entry === "") return refuse("Content cannot be empty. Use remove to delete an entry.");
      const found = findEntry(entries, change.oldText);
      if (typeof found !== "string") return found;
      const next = [...new Set(entries.map((old) => (old === found ? entry : old)))];
      return this.#check(target, { next, entry, entries, removed: found }, "Entry replaced.");
    });
  }

  remove(target: NoteTarget, oldText: string, source: string): Promise<NotesChange> {
    return this.#write(target, source, (entries) => {
      const found = findEntry(entries, oldText);
      if (typeof found !== "string") return found;
      const next = entries.filter((entry) => entry !== found);
      return { ...this.#done(target, next, "Entry removed."), changed: true, removed: found, next };
    });
  }

  #path(target: NoteTarget): string {
    return join(this.#options.dir, FILES[target]);
  }

  #usage(target: NoteTarget, entries: readonly string[]): string {
    const size = entrySize(entries);
    const limit = this.limit(target);
    return `${Math.min(100, Math.floor((size / limit) * 100))}% — ${count(size)}/${count(limit)} chars`;
  }

  #done(target: NoteTarget, entries: readonly string[], message: string): NotesChange {
    const usage = this.#usage(target, entries);
    return { changed: false, result: { success: true, target, entries, usage, entry_count: entries.length, message } };
  }

  /** Checks the limit and scans the text before it is stored. */
  #check(
    target: NoteTarget,
    write: { next: string[]; entry: string; entries: readonly string[]; removed?: string | undefined },
    message: string,
  ): Draft {
    if (write.entry.split("\n").some((line) => line.trim() === "§")) {
      return refuse("A line with only § separates entries and cannot be part of one.");
    }
    const threats = this.#scan(write.entry, FILES[target]).findings.filter((finding) => finding.severity !== "low");
    if (threats.length > 0) {
      const rules = [...new Set(threats.map((finding) => finding.rule))].join(", ");
      return refuse(`The text looks like an injected instruction (${rules}) and was not stored.`);
    }
    const size = entrySize(write.next);
    const limit = this.limit(target);
    if (size > limit && size >= entrySize(write.entries)) {
      const usage = this.#usage(target, write.entries);
      return refuse(
        `This would make ${count(size)} of ${count(limit)} characters. Replace or remove entries first, or write a shorter one.`,
        { current_entries: write.entries, usage },
      );
    }
    return {
      ...this.#done(target, write.next, message),
      changed: true,
      next: write.next,
      added: write.entry,
      removed: write.removed,
    };
  }

  /** Reads, changes and writes the file under its lock, and updates the metadata. */
  async #write(target: NoteTarget, source: string, decide: (entries: string[]) => Draft): Promise<NotesChange> {
    if (!this.enabled(target)) return refuse(`The ${target} notes are switched off in the configuration.`);
    const path = this.#path(target);
    return withFileLock(path, async () => {
      const draft = decide(await this.entries(target));
      const { next, added, ...change } = draft;
      if (next === undefined) return change;
      await atomicWrite(path, joinEntries(next));
      await this.#meta.record(target, next, { source, added, replaced: change.removed });
      return change;
    });
  }

  #block(target: NoteTarget, entries: readonly string[]): string {
    const safe = entries.map((entry) => this.#scan(entry, FILES[target]).text);
    const limit = this.limit(target);
    const shown: string[] = [];
    for (const entry of safe) {
      if (entrySize([...shown, entry]) > limit) break;
      shown.push(entry);
    }
    const hidden = safe.length - shown.length;
    const note =
      hidden === 0
        ? []
        : [`[${hidden} more not shown: ${FILES[target]} is over its limit of ${count(limit)} characters]`];
    const header = `${TITLES[target]} [${this.#usage(target, entries)}]`;
    return [RULE, header, RULE, joinEntries([...shown, ...note])].join("\n");
  }
}

interface Draft extends NotesChange {
  readonly next?: readonly string[] | undefined;
  readonly added?: string | undefined;
}

/** The only entry that contains `oldText`, or the refusal when there is none or several. */
function findEntry(entries: readonly string[], oldText: string): string | NotesChange {
  const needle = oldText.trim();
  if (needle === "") return refuse("old_text cannot be empty: use a part of the entry that no other entry contains.");
  const matches = entries.filter((entry) => entry.includes(needle));
  if (matches.length === 0) return refuse(`No entry contains "${preview(needle)}".`, { current_entries: entries });
  if (matches.length > 1) {
    return refuse("Several entries contain this text: use a longer part of the entry.", {
      matches: matches.map(preview),
    });
  }
  return matches[0] ?? refuse("No entry matches.");
}
