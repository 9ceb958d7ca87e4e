// The context window of a model: from the configuration, the server, or the table of model families.
import type { ModelLimits } from "../../core/model/provider.ts";
import type { Endpoint } from "../endpoint.ts";
import { nativeName } from "../native-name.ts";
import type { Prices } from "../settings.ts";
import { askLocalServer, askModelList, type ServerFacts } from "./server-facts.ts";
import { readWindowCache, writeWindow } from "./window-cache.ts";
import { DEFAULT_WINDOW, familyWindow } from "./window-table.ts";

const LOCAL_DEADLINE_MS = 1_500;
const REMOTE_DEADLINE_MS = 3_000;
const MEMORY_MS = 300_000;

export interface ModelFactsOptions {
  /** `context_length_cache.yaml` of the home; null: no cache on disk. */
  readonly cachePath: string | null;
  /** `model.context_length` and the model it was set for. */
  readonly configured?: { readonly model: string; readonly contextLength: number } | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly now?: (() => number) | undefined;
}

interface CachedFacts {
  readonly facts: ServerFacts | undefined;
  readonly at: number;
}

function cacheKey(endpoint: Endpoint): string {
  return `${endpoint.model}@${endpoint.baseUrl}`;
}

/** Shared by all conversations of a process. A server is asked at most once in five minutes. */
export class ModelFacts {
  readonly #options: ModelFactsOptions;
  readonly #asked = new Map<string, Promise<CachedFacts>>();
  readonly #learnt = new Map<string, number>();
  readonly #answered = new Set<string>();
  #disk: Promise<Map<string, number>> | undefined;

  constructor(options: ModelFactsOptions) {
    this.#options = options;
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  #fromDisk(): Promise<Map<string, number>> {
    const { cachePath } = this.#options;
    this.#disk ??= cachePath === null ? Promise.resolve(new Map()) : readWindowCache(cachePath);
    return this.#disk;
  }

  /** The answer of the server, cached. Never rejects. */
  async server(endpoint: Endpoint, apiKey: string | null, signal?: AbortSignal): Promise<ServerFacts | undefined> {
    if (endpoint.transport === "offline") return undefined;
    const key = cacheKey(endpoint);
    const before = await this.#asked.get(key);
    if (before && this.#now() - before.at < MEMORY_MS) return before.facts;
    const { fetch } = this.#options;
    const question = {
      endpoint,
      apiKey,
      deadlineMs: endpoint.local ? LOCAL_DEADLINE_MS : REMOTE_DEADLINE_MS,
      fetch,
      signal,
    };
    const asking = (endpoint.local ? askLocalServer(question) : askModelList(question)).then((facts) => ({
      facts,
      at: this.#now(),
    }));
    this.#asked.set(key, asking);
    return (await asking).facts;
  }

  /** A local server loads a model with the first request, so its window is asked once more afterwards. */
  afterFirstAnswer(endpoint: Endpoint): void {
    const key = cacheKey(endpoint);
    if (!endpoint.local || this.#answered.has(key)) return;
    this.#answered.add(key);
    this.#asked.delete(key);
  }

  /** Stores the window that an overflow message named. `persistLearnt` writes it to disk after a successful call. */
  learn(endpoint: Endpoint, tokens: number): void {
    this.#learnt.set(cacheKey(endpoint), tokens);
  }

  async persistLearnt(endpoint: Endpoint): Promise<void> {
    const key = cacheKey(endpoint);
    const tokens = this.#learnt.get(key);
    const { cachePath } = this.#options;
    if (tokens === undefined || cachePath === null || (await this.#fromDisk()).get(key) === tokens) return;
    (await this.#fromDisk()).set(key, tokens);
    await writeWindow(cachePath, key, tokens);
  }

  #configured(endpoint: Endpoint): number | undefined {
    const { configured } = this.#options;
    const meant =
      configured && (configured.model === "" || nativeName(endpoint.spec.id, configured.model) === endpoint.model);
    if (meant) return configured.contextLength;
    return endpoint.contextLength;
  }

  /** Without network for configured and well-known models; asks local and unknown servers, with a deadline. */
  async limits(endpoint: Endpoint, apiKey: () => Promise<string | null>, signal?: AbortSignal): Promise<ModelLimits> {
    const configured = this.#configured(endpoint);
    if (configured !== undefined) return { contextLength: configured, source: "config" };
    if (endpoint.transport === "offline") return { contextLength: DEFAULT_WINDOW, source: "catalog" };
    const learnt = this.#learnt.get(cacheKey(endpoint));
    if (learnt !== undefined) return { contextLength: learnt, source: "provider" };
    const family = familyWindow(endpoint.model);
    if (!endpoint.local) {
      const cached = (await this.#fromDisk()).get(cacheKey(endpoint));
      if (cached !== undefined) return { contextLength: cached, source: "provider" };
      const already = await this.#asked.get(cacheKey(endpoint));
      if (family !== undefined && !already?.facts?.contextLength) return { contextLength: family, source: "catalog" };
    }
    const facts = await this.server(endpoint, await apiKey(), signal);
    if (facts?.contextLength !== undefined) {
      const { contextLength, maxOutputTokens } = facts;
      return { contextLength, source: "provider", maxOutputTokens };
    }
    return family === undefined
      ? { contextLength: DEFAULT_WINDOW, source: "default" }
      : { contextLength: family, source: "catalog" };
  }

  /** Prices that the endpoint lists. Only gateways do; for the hosts of the makers there is the price table. */
  async prices(endpoint: Endpoint, apiKey: string | null): Promise<Prices | undefined> {
    if (endpoint.local) return (await this.#asked.get(cacheKey(endpoint)))?.facts?.prices;
    return (await this.server(endpoint, apiKey))?.prices;
  }
}
