// The models of a home: the configured one, else a server on this machine, else the offline model.
import { type Failure, UserError } from "../core/failure.ts";
import type { TransportName } from "../core/model/provider.ts";
import type { UsageLedger } from "../core/store/usage.ts";
import { auxiliarySelection } from "./auxiliary-model.ts";
import { ProviderClient } from "./calls/client.ts";
import { EndpointHealth } from "./calls/endpoint-health.ts";
import { discoverLocal, type ProbeTarget } from "./discover.ts";
import type { Endpoint } from "./endpoint.ts";
import { ModelFacts } from "./facts/limits.ts";
import { Credentials } from "./keys/credentials.ts";
import { type ModelSelection, type ResolveContext, resolveEndpoint } from "./resolve.ts";
import type { ProviderSettings } from "./settings.ts";
import type { Transport } from "./transports/transport.ts";

export interface ModelsOptions {
  readonly settings: ProviderSettings;
  readonly env: { readonly [name: string]: string | undefined };
  /** Path of `auth.json`. */
  readonly authPath: string;
  /** The `.env` of the home, for messages. */
  readonly envPath?: string | undefined;
  readonly globalAuthPath?: string | undefined;
  readonly windowCachePath: string | null;
  readonly ledger: UsageLedger;
  /** Gets errors that must not stop an answer: the ledger or the key file could not be written. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Where to look for local servers; default: the usual ports. */
  readonly probeTargets?: readonly ProbeTarget[] | undefined;
}

export interface Connected {
  readonly provider: ProviderClient;
  readonly endpoint: Endpoint;
  /** For the user: how the model was found, which fallbacks are ignored. */
  readonly notes: readonly string[];
}

export const OFFLINE_NOTE =
  "No model is configured: the built-in offline model answers. Connect a real one with `hermes setup`, or start Ollama.";

function toUserError({ message, hint }: Failure): UserError {
  return new UserError(message, { hint });
}

/** The models of one home; its clients share model facts, keys and the ledger. */
export class Models {
  readonly #options: ModelsOptions;
  readonly credentials: Credentials;
  facts: ModelFacts;
  readonly health = new EndpointHealth();
  #transports: Promise<Readonly<Record<TransportName, Transport>>> | undefined;
  #context: Promise<ResolveContext> | undefined;
  #settings: ProviderSettings;

  constructor(options: ModelsOptions) {
    this.#options = options;
    const { settings, globalAuthPath } = options;
    this.#settings = settings;
    this.credentials = new Credentials({
      path: options.authPath,
      strategies: settings.config.credential_pool_strategies,
      globalPath: globalAuthPath,
    });
    this.facts = this.#openFacts();
  }

  #openFacts(): ModelFacts {
    const { config, model } = this.#settings;
    const contextLength = config.model.context_length;
    return new ModelFacts({
      cachePath: this.#options.windowCachePath,
      configured: contextLength === undefined ? undefined : { model: model.model, contextLength },
    });
  }

  get settings(): ProviderSettings {
    return this.#settings;
  }

  /** Conversations that are opened from now on use these settings. */
  reconfigure(settings: ProviderSettings): void {
    this.#settings = settings;
    this.facts = this.#openFacts();
    this.#context = undefined;
  }

  /** Configuration, variables and stored keys, for `resolveEndpoint`. Read once, and again after `refresh`. */
  context(): Promise<ResolveContext> {
    const { env, envPath } = this.#options;
    const settings = this.#settings;
    this.#context ??= this.credentials.overview().then((overview) => ({ settings, env, envPath, ...overview }));
    return this.#context;
  }

  /** Waits until all writes are done. */
  async close(): Promise<void> {
    await this.credentials.settled();
  }

  /** Keys and variables are read again at the next use. */
  refresh(): void {
    this.#context = undefined;
  }

  async #transport(name: TransportName): Promise<Transport> {
    this.#transports ??= import("./transports/transport-set.ts").then((module) => module.transportSet());
    return (await this.#transports)[name];
  }

  /** A client over the given chain, with this home's keys, facts and ledger. */
  client(
    primary: Endpoint,
    fallbacks: readonly Endpoint[],
    settings: ProviderSettings = this.settings,
  ): ProviderClient {
    return new ProviderClient({
      primary,
      fallbacks,
      settings,
      credentials: this.credentials,
      ledger: this.#options.ledger,
      facts: this.facts,
      health: this.health,
      cacheTtl: settings.config.prompt_caching.cache_ttl,
      transport: (name) => this.#transport(name),
      onError: this.#options.onError ?? (() => undefined),
    });
  }

  /** The endpoint of the selection. When no model is selected or configured: a local server, else the offline model. */
  async resolve(selection: ModelSelection): Promise<{ endpoint: Endpoint; notes: string[] } | { failure: Failure }> {
    const context = await this.context();
    const resolution = resolveEndpoint(selection, context);
    if (resolution.ok) return { endpoint: resolution.endpoint, notes: [] };
    if (!resolution.noProvider) return { failure: resolution.failure };
    const wanted = selection.model || this.settings.model.model;
    const found = await this.#findLocal(wanted, context);
    if (found) return found;
    if (wanted !== "") return { failure: resolution.failure };
    const offline = resolveEndpoint({ provider: "offline", model: "offline" }, context);
    return offline.ok ? { endpoint: offline.endpoint, notes: [OFFLINE_NOTE] } : { failure: offline.failure };
  }

  async #findLocal(wanted: string, context: ResolveContext) {
    const { probeTargets } = this.#options;
    const server = await discoverLocal(probeTargets ? { targets: probeTargets } : {});
    if (!server) return undefined;
    const { provider, baseUrl } = server;
    const found = resolveEndpoint({ provider, baseUrl, model: wanted || server.model }, context);
    if (!found.ok) return undefined;
    const { endpoint } = found;
    return {
      endpoint,
      notes: [`No provider is configured: using ${endpoint.model} on ${server.label} at ${baseUrl}.`],
    };
  }

  /** The fallbacks that can be used; the notes name the others. Throws when a key cannot be used. */
  async fallbacks(): Promise<{ endpoints: Endpoint[]; notes: string[] }> {
    const context = await this.context();
    const endpoints: Endpoint[] = [];
    const notes: string[] = [];
    for (const choice of this.settings.fallbacks) {
      const found = resolveEndpoint(choice, context);
      if (found.ok) endpoints.push(found.endpoint);
      else if (found.failure.kind === "auth") throw toUserError(found.failure);
      else notes.push(`Fallback ${choice.provider}/${choice.model} is ignored: ${found.failure.message}`);
    }
    return { endpoints, notes };
  }

  /** Side tasks fail silently, so an unusable key of a side task is reported before the conversation begins. */
  async #checkSideKeys(): Promise<void> {
    const context = await this.context();
    const { auxiliary } = this.settings.config;
    for (const task of Object.keys(auxiliary)) {
      const selection = auxiliarySelection(auxiliary, task);
      const found = selection?.apiKey ? resolveEndpoint(selection, context) : undefined;
      if (found && !found.ok && found.failure.kind === "auth") throw toUserError(found.failure);
    }
  }

  /** Opens a provider for a conversation. If the primary model has no key, the first fallback that has one is used. */
  async connect(selection: ModelSelection = {}): Promise<Connected> {
    const resolved = await this.resolve(selection);
    const { endpoints, notes } = await this.fallbacks();
    await this.#checkSideKeys();
    if ("endpoint" in resolved) {
      return {
        provider: this.client(resolved.endpoint, endpoints),
        endpoint: resolved.endpoint,
        notes: [...resolved.notes, ...notes],
      };
    }
    const { failure } = resolved;
    const [first, ...rest] = endpoints;
    if (!first || failure.kind === "auth") throw toUserError(failure);
    const note = `${failure.message}: using the fallback ${first.provider}/${first.model}.`;
    return { provider: this.client(first, rest), endpoint: first, notes: [note, ...notes] };
  }
}
