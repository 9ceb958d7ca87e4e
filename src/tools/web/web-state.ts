// What the web tools of all conversations share: the services, the rules, and answers that are still fresh.
import type { Gate } from "../../core/gate.ts";
import type { SideModel } from "../../core/provider.ts";
import type { Redactor } from "../../core/redactor.ts";
import type { Scan } from "../../core/scan.ts";
import type { WebCheck, WebHit, WebPage } from "../../core/web.ts";
import { rememberNewest } from "../../lib/remember-newest.ts";
import type { WebBackends } from "./backends.ts";
import { ByteCache } from "./byte-cache.ts";

const SEARCH_TTL_MS = 5 * 60_000;
const PAGE_TTL_MS = 15 * 60_000;
const SEARCH_BYTES = 4_000_000;
const PAGE_BYTES = 32_000_000;
const MOST_CONVERSATIONS = 200;

export interface WebParts {
  readonly backends: WebBackends;
  readonly check: WebCheck;
  readonly gate: Gate;
  readonly redactor: Redactor;
  readonly scan: Scan;
  /** The model that summarises long pages; undefined when there is none, and they are cut to an extract. */
  side?(): Promise<SideModel | undefined>;
  /** The folder for long pages of a conversation. */
  spillDir(conversationId: string): string;
}

export interface FoundHits {
  readonly provider: string;
  readonly hits: readonly WebHit[];
}

type ReadPage = Extract<WebPage, { ok: true }>;

export class WebState {
  readonly parts: WebParts;
  readonly searches: ByteCache<FoundHits>;
  readonly pages: ByteCache<ReadPage>;
  /** The last question of each conversation: it says what in a long page matters. */
  readonly #questions = new Map<string, string>();

  constructor(parts: WebParts, now?: () => number) {
    this.parts = parts;
    const clock = now ? { now } : {};
    this.searches = new ByteCache({ maxBytes: SEARCH_BYTES, ttlMs: SEARCH_TTL_MS, ...clock });
    this.pages = new ByteCache({ maxBytes: PAGE_BYTES, ttlMs: PAGE_TTL_MS, ...clock });
  }

  asked(conversationId: string, query: string): void {
    rememberNewest(this.#questions, conversationId, query, MOST_CONVERSATIONS);
  }

  questionOf(conversationId: string): string {
    return this.#questions.get(conversationId) ?? "";
  }
}
