// Every web service: its requests, the results from its responses, and its failures.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { testFetch } from "../../../../test/servers/fake-web-fetch.ts";
import { type FakeWebServices, fakeWebServices } from "../../../../test/servers/fake-web-services.ts";
import type { WebProvider } from "../../../core/tool/web.ts";
import { webProviders } from "../web-providers.ts";

let services: FakeWebServices;

beforeEach(async () => {
  services = await fakeWebServices();
});
afterEach(() => services.close());

const SEARCHERS = ["searxng", "brave_free", "tavily", "exa", "firecrawl", "parallel", "ddgs", "xai"];
const READERS = ["tavily", "exa", "firecrawl", "parallel"];

function provider(name: string, options: { env?: { [name: string]: string }; timeoutMs?: number } = {}): WebProvider {
  const list = webProviders({
    env: { ...services.env, ...options.env },
    call: testFetch(),
    fetch: testFetch(),
    xaiModel: "grok-test",
    ...(options.timeoutMs ? { timeoutMs: options.timeoutMs } : {}),
  });
  const found = list.find((entry) => entry.name === name);
  if (!found) throw new Error(`no provider ${name}`);
  return found;
}

const neverAborted = () => new AbortController().signal;

describe.each(SEARCHERS)("%s searches", (name) => {
  it("and returns titles, addresses and descriptions in order", async () => {
    const answer = await provider(name).search!("cats & dogs", { limit: 3, signal: neverAborted() });
    expect(answer).toEqual({
      ok: true,
      hits: [1, 2, 3].map((n) => ({
        title: `Result ${n}`,
        url: `https://example.org/${n}`,
        description: `Words about result ${n}`,
      })),
    });
    const [first] = services.requests;
    expect(`${first?.query} ${first?.body} ${new URLSearchParams(first?.body)}`).toMatch(/cats/);
  });

  it.each([
    [401, "auth"],
    [429, "rate_limit"],
    [500, "server_error"],
    [503, "server_error"],
    [402, "billing"],
  ])("and reports status %i as %s", async (status, kind) => {
    services.fail({ status, body: { error: "said so" }, headers: { "retry-after": "7" } });
    const answer = await provider(name).search!("q", { limit: 3, signal: neverAborted() });
    expect(answer).toMatchObject({ ok: false, failure: { kind, status, retryAfterMs: 7000 } });
    expect(JSON.stringify(answer)).toContain("said so");
    expect(JSON.stringify(answer)).not.toMatch(/-key"/);
  });

  it("and reports an invalid response", async () => {
    services.fail({ body: "<html>Welcome to the hotel network</html>" });
    const answer = await provider(name).search!("q", { limit: 3, signal: neverAborted() });
    expect(answer).toMatchObject({ ok: false, failure: { kind: "format_error" } });
  });

  it("and accepts a response with wrong fields", async () => {
    services.fail({
      body: name === "ddgs" ? '<div class="results">' : { results: "none", web: [1], data: null, output: {} },
    });
    const answer = await provider(name).search!("q", { limit: 3, signal: neverAborted() });
    expect(answer).toEqual({ ok: true, hits: [] });
  });

  it("and stops at the time limit", async () => {
    services.fail({ hang: true });
    const answer = await provider(name, { timeoutMs: 60 }).search!("q", { limit: 3, signal: neverAborted() });
    expect(answer).toMatchObject({ ok: false, failure: { kind: "timeout" } });
  });

  it("and stops when it is interrupted", async () => {
    services.fail({ hang: true });
    const stop = new AbortController();
    const searching = provider(name).search!("q", { limit: 3, signal: stop.signal });
    await services.arrived(1);
    stop.abort();
    expect(await searching).toMatchObject({ ok: false, failure: { kind: "interrupted" } });
  });
});

describe.each(READERS)("%s reads pages", (name) => {
  it("and one failure does not affect the others", async () => {
    const urls = ["https://example.org/a", "https://example.org/broken", "https://Example.org/c/"];
    const answer = await provider(name).extract!(urls, { signal: neverAborted() });
    expect(answer.ok && answer.pages.map((page) => page.url)).toEqual(urls);
    expect(answer.ok && answer.pages.map((page) => page.ok)).toEqual([true, false, true]);
    expect(answer.ok && answer.pages[0]?.ok && answer.pages[0].content).toContain("Text of https://example.org/a");
  });

  it.each([
    [401, "auth"],
    [429, "rate_limit"],
    [502, "server_error"],
  ])("and reports status %i as %s", async (status, kind) => {
    services.fail({ status, body: { error: "no" } });
    const answer = await provider(name).extract!(["https://example.org/a"], { signal: neverAborted() });
    expect(answer).toMatchObject({ ok: false, failure: { kind } });
  });

  it("and reports an address that is missing in the response", async () => {
    services.fail({ body: name === "firecrawl" ? { success: true, data: {} } : { results: [] } });
    const answer = await provider(name).extract!(["https://example.org/a"], { signal: neverAborted() });
    expect(answer).toMatchObject({ ok: true, pages: [{ ok: false, url: "https://example.org/a" }] });
  });
});

describe("keys", () => {
  it.each([
    ["brave_free", "BRAVE_SEARCH_API_KEY"],
    ["tavily", "TAVILY_API_KEY"],
    ["exa", "EXA_API_KEY"],
    ["parallel", "PARALLEL_API_KEY"],
    ["xai", "XAI_API_KEY"],
    ["firecrawl", "FIRECRAWL_API_KEY"],
  ])("%s says that %s is missing or wrong", async (name, variable) => {
    const missing = provider(name, { env: { [variable]: " ", FIRECRAWL_API_URL: "" } }).available();
    expect(missing).toMatchObject({ ok: false, reason: expect.stringContaining(variable) });
    const wrong = await provider(name, { env: { [variable]: "wrong-key" } }).search!("q", {
      limit: 1,
      signal: neverAborted(),
    });
    expect(wrong).toMatchObject({ ok: false, failure: { kind: "auth", hint: expect.stringContaining(variable) } });
    expect(JSON.stringify(wrong)).not.toContain("wrong-key");
  });

  it("self-hosted Firecrawl and SearXNG need an address only", () => {
    expect(provider("firecrawl", { env: { FIRECRAWL_API_KEY: "" } }).available()).toEqual({ ok: true });
    expect(provider("searxng").available()).toEqual({ ok: true });
    expect(provider("searxng", { env: { SEARXNG_URL: "" } }).available()).toMatchObject({ ok: false });
  });
});

describe("many results", () => {
  it.each(["searxng", "brave_free", "ddgs"])("%s requests pages until there are enough", async (name) => {
    const answer = await provider(name).search!("q", { limit: 45, signal: neverAborted() });
    expect(answer.ok && answer.hits.map((hit) => hit.url)).toEqual(
      Array.from({ length: 45 }, (_, index) => `https://example.org/${index + 1}`),
    );
  });

  it("a failure of a later page keeps the results found", async () => {
    const searx = provider("searxng");
    const first = await searx.search!("q", { limit: 5, signal: neverAborted() });
    expect(first.ok).toBe(true);
    const body = { results: [{ url: "https://a.example/", title: "A", content: "" }] };
    services.fail({ body }, { status: 500 });
    expect(await searx.search!("q", { limit: 30, signal: neverAborted() })).toMatchObject({
      ok: true,
      hits: [{ title: "A" }],
    });
  });
});

describe("errors of particular services", () => {
  it("SearXNG without JSON: names the setting", async () => {
    services.fail({ status: 403, body: "Forbidden" });
    const answer = await provider("searxng").search!("q", { limit: 1, signal: neverAborted() });
    expect(answer).toMatchObject({ ok: false, failure: { hint: expect.stringContaining("settings.yml") } });
  });

  it("SearXNG without answers of its engines is a failure, not an empty result", async () => {
    services.fail({ body: { results: [], unresponsive_engines: [["google", "CAPTCHA"]] } });
    const answer = await provider("searxng").search!("q", { limit: 1, signal: neverAborted() });
    expect(answer).toMatchObject({ ok: false, failure: { message: expect.stringContaining("google: CAPTCHA") } });
  });

  it("a captcha of DuckDuckGo is a rate limit", async () => {
    services.fail({
      status: 202,
      body: '<form id="challenge-form"><div class="anomaly-modal__title">Bots</div></form>',
    });
    const answer = await provider("ddgs").search!("q", { limit: 1, signal: neverAborted() });
    expect(answer).toMatchObject({ ok: false, failure: { kind: "rate_limit" } });
  });

  it("prose of xAI is read by its citations", async () => {
    const text = "Cats sleep a lot. [1]";
    const annotations = [
      { type: "url_citation", url: "https://cats.example/", title: "1", start_index: 18, end_index: 21 },
    ];
    const output = [{ type: "message", content: [{ type: "output_text", text, annotations }] }];
    services.fail({ body: { output, citations: ["https://cats.example/", "https://more.example/"] } });
    const answer = await provider("xai").search!("q", { limit: 5, signal: neverAborted() });
    expect(answer).toEqual({
      ok: true,
      hits: [
        { url: "https://cats.example/", title: "https://cats.example/", description: "Cats sleep a lot." },
        { url: "https://more.example/", title: "https://more.example/", description: "" },
      ],
    });
  });

  it("Firecrawl reports a missing page", async () => {
    const answer = await provider("firecrawl").extract!(["https://example.org/missing"], { signal: neverAborted() });
    expect(answer).toMatchObject({ ok: true, pages: [{ ok: false, error: expect.stringContaining("404") }] });
  });

  it("keys are not sent when a service redirects", async () => {
    services.fail({ status: 302, headers: { location: `${services.url}/tavily/search` }, body: {} });
    const answer = await provider("tavily").search!("q", { limit: 1, signal: neverAborted() });
    expect(answer.ok).toBe(false);
    expect(services.requests).toHaveLength(1);
  });
});
