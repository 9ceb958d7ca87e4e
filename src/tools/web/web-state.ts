// State that the web tools of all conversations share: services, policies, and caches of recent results.
import type { Gate } from "../../core/gate.ts";
import type { SideModel } from "../../core/model/provider.ts";
import type { Redactor } from "../../core/redactor.ts";
import type { Scan } from "../../core/scan.ts";
import type { WebCheck, WebHit, WebPage } from "../../core/tool/web.ts";
import { rememberNewest } from "../../lib/remember-newest.ts";
import type { WebBackends } from "./backends.ts";
import { ByteCache } from "./byte-cache.ts";

const SEARCH_TTL_MS = 5 * 60_000;
const PAGE_TTL_MS = 15 * 60_000;
const SEARCH_BYTES = 4_000_000;
const PAGE_BYTES = 32_000_000;
const MAX_CONVERSATIONS = 200;

export interface WebParts {
  readonly backends: WebBackends;
  readonly check: WebCheck;
  readonly gate: Gate;
  readonly redactor: Redactor;
  readonly scan: Scan;
  /** The model that summarises long pages; without one they are cut to an extract. */
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
  /** The last search query of each conversation, used to select the relevant parts of a long page. */
  readonly #queries = new Map<string, string>();

  constructor(parts: WebParts, now?: () => number) {
    this.parts = parts;
    this.searches = new ByteCache({ maxBytes: SEARCH_BYTES, ttlMs: SEARCH_TTL_MS, now });
    this.pages = new ByteCache({ maxBytes: PAGE_BYTES, ttlMs: PAGE_TTL_MS, now });
  }

  rememberQuery(conversationId: string, query: string): void {
    rememberNewest(this.#queries, conversationId, query, MAX_CONVERSATIONS);
  }

  lastQuery(conversationId: string): string {
    return this.#queries.get(conversationId) ?? "";
  }
}
