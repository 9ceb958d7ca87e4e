// The choice of the service, and the cache.
import { describe, expect, it } from "vitest";
import type { WebProvider } from "../../core/tool/web.ts";
import { type BackendSettings, WebBackends } from "./backends.ts";
import { ByteCache } from "./byte-cache.ts";

function provider(name: string, capabilities: WebProvider["capabilities"], up = true): WebProvider {
  return {
    name,
    label: name,
    capabilities,
    available: () => (up ? { ok: true } : { ok: false, reason: `${name} has no key` }),
  };
}

const both = ["search", "extract"] as const;
const PROVIDERS = [
  provider("local", ["extract"]),
  provider("ddgs", ["search"]),
  provider("xai", ["search"]),
  provider("exa", both),
  provider("tavily", both, false),
  provider("brave_free", ["search"]),
  provider("firecrawl", both, false),
];

function open(settings: Partial<BackendSettings> = {}, fromPlugin: WebProvider[] = []) {
  const full = { backend: "", searchBackend: "", extractBackend: "", ...settings };
  return new WebBackends(full, PROVIDERS, {
    names: () => fromPlugin.map((entry) => entry.name),
    find: async (name) => fromPlugin.find((entry) => entry.name === name),
  });
}

async function names(backends: WebBackends, capability: "search" | "extract"): Promise<string[] | string> {
  await backends.ready();
  const choice = backends.choose(capability);
  return choice.ok ? choice.providers.map((entry) => entry.name) : choice.reason;
}

describe("the choice of a service", () => {
  it("without settings uses the available services in order; the built-in reader is always available", async () => {
    expect(await names(open(), "search")).toEqual(["exa", "brave_free", "ddgs"]);
    expect(await names(open(), "extract")).toEqual(["exa", "local"]);
  });

  it("follows the settings: the specific one, then the shared one", async () => {
    expect(await names(open({ backend: "exa", searchBackend: "brave-free" }), "search")).toEqual(["brave_free"]);
    expect(await names(open({ backend: "exa", searchBackend: "brave-free" }), "extract")).toEqual(["exa"]);
    expect(await names(open({ backend: "DuckDuckGo" }), "search")).toEqual(["ddgs"]);
    expect(await names(open({ searchBackend: "xai" }), "search")).toEqual(["xai"]);
  });

  it("ignores a search-only shared service for reading", async () => {
    expect(await names(open({ backend: "ddgs" }), "extract")).toEqual(["exa", "local"]);
  });

  it("reports problems in the settings", async () => {
    expect(await names(open({ backend: "tavily" }), "search")).toBe("web.backend is tavily: tavily has no key");
    expect(await names(open({ backend: "exo" }), "search")).toMatch(/did you mean exa\?/);
    expect(await names(open({ extractBackend: "ddgs" }), "extract")).toMatch(/cannot extract/);
    expect(await open({ searchBackend: "local" }).availability("search")).toMatchObject({ ok: false });
  });

  it("lets plugins add services and replace those of the same name", async () => {
    const mine = provider("mine", both);
    expect(await names(open({}, [mine]), "extract")).toEqual(["exa", "mine", "local"]);
    expect(await names(open({ backend: "mine" }, [mine]), "search")).toEqual(["mine"]);
    const other = open({ backend: "exa" }, [provider("exa", ["search"])]);
    expect(await names(other, "extract")).toEqual(["local"]);
  });
});

describe("the cache", () => {
  it("removes entries by age and size, least recently used first", () => {
    let now = 0;
    const cache = new ByteCache<string>({ maxBytes: 60, ttlMs: 100, now: () => now });
    cache.set("a", "A", 9);
    cache.set("b", "B", 9);
    cache.set("c", "C", 9);
    expect(cache.get("a")).toBe("A");
    cache.set("d", "D", 9);
    expect([cache.get("a"), cache.get("b"), cache.get("d")]).toEqual(["A", undefined, "D"]);
    expect(cache.bytes).toBeLessThanOrEqual(60);
    cache.set("huge", "H", 1000);
    expect(cache.get("huge")).toBeUndefined();
    now = 101;
    expect(cache.get("a")).toBeUndefined();
  });
});
