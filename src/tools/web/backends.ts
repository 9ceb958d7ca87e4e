// Chooses the services for searching and reading: the configured one, or the available ones in a fixed order.
import type { Availability } from "../../core/tool/tool.ts";
import type { WebCapability, WebProvider } from "../../core/tool/web.ts";
import { nearest } from "../../lib/nearest.ts";

/** The order without configuration; providers of plugins come after these, the built-in reader last. */
const ORDER = ["firecrawl", "parallel", "tavily", "exa", "searxng", "brave_free", "ddgs"];
/** Used only when configured, because each answer costs a model call. */
const ONLY_BY_NAME = new Set(["xai"]);
const LAST = "local";
const ALIASES: { readonly [name: string]: string } = {
  brave: "brave_free",
  duckduckgo: "ddgs",
  ddg: "ddgs",
  searx: "searxng",
};

/** Providers of plugins; their code is loaded when it is needed. */
export interface PluginWebProviders {
  names(): readonly string[];
  find(name: string): Promise<WebProvider | undefined>;
}

export interface BackendSettings {
  readonly backend: string;
  readonly searchBackend: string;
  readonly extractBackend: string;
}

export type Choice =
  | { readonly ok: true; readonly providers: readonly WebProvider[] }
  | { readonly ok: false; readonly reason: string };

function canonical(name: string): string {
  const plain = name.trim().toLowerCase().replaceAll("-", "_");
  return ALIASES[plain] ?? plain;
}

export class WebBackends {
  readonly #providers = new Map<string, WebProvider>();
  readonly #settings: BackendSettings;
  readonly #fromPlugins: PluginWebProviders | undefined;
  #ready: Promise<void> | undefined;

  constructor(settings: BackendSettings, providers: readonly WebProvider[], fromPlugin?: PluginWebProviders) {
    this.#settings = settings;
    this.#fromPlugins = fromPlugin;
    for (const provider of providers) this.register(provider);
  }

  /** Replaces a provider of the same name. */
  register(provider: WebProvider): void {
    this.#providers.set(canonical(provider.name), provider);
  }

  /** Loads the providers of plugins that may be chosen: the configured ones, or all when nothing is configured. */
  ready(): Promise<void> {
    this.#ready ??= this.#load();
    return this.#ready;
  }

  async #load(): Promise<void> {
    const { backend, searchBackend, extractBackend } = this.#settings;
    const configured = [backend, searchBackend, extractBackend].filter((name) => name.trim() !== "");
    const fromPlugin = this.#fromPlugins?.names() ?? [];
    const wanted = fromPlugin.filter(
      (name) => configured.length === 0 || configured.some((own) => canonical(own) === canonical(name)),
    );
    for (const name of wanted) {
      const provider = await this.#fromPlugins?.find(name);
      if (provider) this.register(provider);
    }
  }

  #findConfigured(name: string, capability: WebCapability, key: string): Choice | undefined {
    const provider = this.#providers.get(canonical(name));
    if (!provider) {
      const close = nearest(canonical(name), this.#providers.keys());
      const hint = close ? `did you mean ${close}?` : `known backends: ${[...this.#providers.keys()].join(", ")}`;
      return { ok: false, reason: `${key} names "${name}", which is not a web backend; ${hint}` };
    }
    if (!provider.capabilities.includes(capability)) return undefined;
    const availability = provider.available();
    if (!availability.ok) return { ok: false, reason: `${key} is ${provider.name}: ${availability.reason}` };
    return { ok: true, providers: [provider] };
  }

  #findAvailable(capability: WebCapability): Choice {
    const rank = (provider: WebProvider) => {
      const index = ORDER.indexOf(canonical(provider.name));
      if (index !== -1) return index;
      return provider.name === LAST ? ORDER.length + 1 : ORDER.length;
    };
    const providers = [...this.#providers.values()]
      .filter((provider) => provider.capabilities.includes(capability) && !ONLY_BY_NAME.has(provider.name))
      .filter((provider) => provider.available().ok)
      .sort((a, b) => rank(a) - rank(b));
    if (providers.length > 0) return { ok: true, providers };
    return { ok: false, reason: `no web backend for ${capability} is set up; see web.backend` };
  }

  /** The providers to use, best first. A configured one is used alone; `web.backend` is ignored for operations that it does not support. */
  choose(capability: WebCapability): Choice {
    const { backend, searchBackend, extractBackend } = this.#settings;
    const own = capability === "search" ? searchBackend : extractBackend;
    if (own.trim() !== "") {
      const key = `web.${capability}_backend`;
      return (
        this.#findConfigured(own, capability, key) ?? {
          ok: false,
          reason: `${key} is ${own}, which cannot ${capability}`,
        }
      );
    }
    const shared = backend.trim() === "" ? undefined : this.#findConfigured(backend, capability, "web.backend");
    return shared ?? this.#findAvailable(capability);
  }

  async availability(capability: WebCapability): Promise<Availability> {
    await this.ready();
    const choice = this.choose(capability);
    return choice.ok ? { ok: true } : choice;
  }
}
