// Remembers which files a conversation has read: detects repeated reads and writes over changes it has not seen.
import { rememberNewest } from "../../lib/remember-newest.ts";

interface Seen {
  readonly mtimeMs: number;
  readonly size: number;
  /** True when the whole file was read and not only a page. */
  readonly whole: boolean;
}

interface Page {
  readonly mtimeMs: number;
  readonly size: number;
  repeats: number;
}

/** For all conversations together. */
const MAX_ENTRIES = 1_000;

export type ReadVerdict = "fresh" | "unchanged" | "blocked";

export class FileMemory {
  readonly #seen = new Map<string, Seen>();
  readonly #pages = new Map<string, Page>();
  /** The conversation that wrote a file last. */
  readonly #writers = new Map<string, string>();

  /** `unchanged` for the first repeated read of an unchanged page, `blocked` for further ones. */
  checkPage(conversationId: string, page: string, stamp: { mtimeMs: number; size: number }): ReadVerdict {
    const key = `${conversationId}\0${page}`;
    const before = this.#pages.get(key);
    if (!before || before.mtimeMs !== stamp.mtimeMs || before.size !== stamp.size) {
      rememberNewest(this.#pages, key, { ...stamp, repeats: 0 }, MAX_ENTRIES);
      return "fresh";
    }
    before.repeats += 1;
    return before.repeats === 1 ? "unchanged" : "blocked";
  }

  sawFile(conversationId: string, path: string, stamp: { mtimeMs: number; size: number }, whole: boolean): void {
    const key = `${conversationId}\0${path}`;
    const before = this.#seen.get(key);
    const stillWhole = before?.whole === true && before.mtimeMs === stamp.mtimeMs && before.size === stamp.size;
    rememberNewest(this.#seen, key, { ...stamp, whole: whole || stillWhole }, MAX_ENTRIES);
  }

  /** Why overwriting the file may lose content that the conversation has not seen; undefined when it has seen all. */
  staleness(conversationId: string, path: string, now: { mtimeMs: number; size: number } | null): string | undefined {
    if (!now) return undefined;
    const seen = this.#seen.get(`${conversationId}\0${path}`);
    if (!seen) return "the file existed and was not read before; its old content is gone";
    if (seen.mtimeMs !== now.mtimeMs || seen.size !== now.size) {
      const writer = this.#writers.get(path);
      return writer && writer !== conversationId
        ? "another agent changed the file since it was read"
        : "the file changed on disk since it was read";
    }
    return seen.whole ? undefined : "only a part of the file was read before";
  }

  wrote(conversationId: string, path: string, stamp: { mtimeMs: number; size: number }): void {
    rememberNewest(this.#writers, path, conversationId, MAX_ENTRIES);
    rememberNewest(this.#seen, `${conversationId}\0${path}`, { ...stamp, whole: true }, MAX_ENTRIES);
  }

  /** After a compaction the model no longer has the pages, so they may be read again. */
  forgetPages(conversationId: string): void {
    for (const key of this.#pages.keys()) if (key.startsWith(`${conversationId}\0`)) this.#pages.delete(key);
  }
}
