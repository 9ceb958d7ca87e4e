// Search as the store offers it: the statements of sqlite/search with the side index for CJK, opened when first needed.

import type { SearchAnswer, SearchOptions } from "../core/store/session.ts";
import { errorMessage } from "../lib/error-message.ts";
import { type CjkIndex, createCjkIndex } from "./runtime/cjk-index.ts";
import { openRuntimeDb } from "./runtime-db.ts";
import type { Connection } from "./sqlite/connection/connection.ts";
import type { Database } from "./sqlite/connection/driver.ts";
import { hasCjk } from "./sqlite/search/parse-query.ts";
import { searchMessages } from "./sqlite/search/search-messages.ts";

const FEED_PAUSE_MS = 30;

export class SearchService {
  readonly #connection: Connection;
  readonly #runtimePath: string | undefined;
  readonly #notice: (text: string) => void;
  #runtime: Database | undefined;
  #side: { readonly index: CjkIndex; readonly of: Database } | undefined;
  #feeding: NodeJS.Timeout | undefined;

  constructor(connection: Connection, runtimePath: string | undefined, notice: (text: string) => void) {
    this.#connection = connection;
    this.#runtimePath = runtimePath;
    this.#notice = notice;
  }

  searchMessages(query: string, options?: SearchOptions): Promise<SearchAnswer> {
    const side = hasCjk(query) ? this.#sideIndex() : undefined;
    if (side) this.#feed(side);
    return this.#connection.read(({ db }) => searchMessages(db, query, options, side));
  }

  close(): void {
    clearTimeout(this.#feeding);
    this.#runtime?.close();
    this.#runtime = undefined;
  }

  /** Without the side index the result is the same, only slower: a failure is reported and retried at the next search. */
  #sideIndex(): CjkIndex | undefined {
    if (this.#runtimePath === undefined) return undefined;
    const state = this.#connection.db;
    try {
      this.#runtime ??= openRuntimeDb(this.#runtimePath, { onNotice: this.#notice });
      if (this.#side?.of !== state) this.#side = { index: createCjkIndex(this.#runtime, state), of: state };
      return this.#side.index;
    } catch (error) {
      this.#notice(`Short Chinese, Japanese and Korean words are searched more slowly: ${errorMessage(error)}`);
      return undefined;
    }
  }

  /** Builds the side index between searches, one step at a time, until it has every message. */
  #feed(index: CjkIndex): void {
    clearTimeout(this.#feeding);
    this.#feeding = setTimeout(() => {
      if (this.#side?.index !== index || this.#connection.closed || !this.#side.of.open) return;
      try {
        index.catchUp(0);
        if (index.isBehind()) this.#feed(index);
      } catch (error) {
        this.#notice(`The side index for short words waits for the next search: ${errorMessage(error)}`);
      }
    }, FEED_PAUSE_MS);
    // Does not keep the process alive; the next search continues.
    this.#feeding.unref();
  }
}
