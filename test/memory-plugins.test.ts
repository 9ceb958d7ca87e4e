// The memory providers that come with the program, through the host that loads them.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openHome } from "../src/app/home.ts";
import { openMemoryActions } from "../src/app/memory-actions.ts";
import { PluginHost } from "../src/app/plugin-host.ts";
import { openSettings } from "../src/app/settings.ts";
import type { MemoryProvider } from "../src/core/memory.ts";
import type { JsonObject } from "../src/core/message.ts";
import { type FakeMem0, startFakeMem0 } from "./fake-mem0.ts";

let folder: string;
const hosts: PluginHost[] = [];
const init = { platform: "cli", agentContext: "primary", agentIdentity: "default", agentWorkspace: "hermes" };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-memory-"));
});

afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  rmSync(folder, { recursive: true, force: true });
});

function homeOf(env: { [name: string]: string } = {}) {
  return openHome([], { env: { HERMES_HOME: folder, ...env }, cwd: folder, platform: "linux", homedir: folder }).home;
}

async function openProvider(
  name: string,
  env: { [key: string]: string } = {},
  entries: object = {},
): Promise<MemoryProvider> {
  writeFileSync(join(folder, "config.yaml"), JSON.stringify({ memory: { provider: name }, plugins: { entries } }));
  const home = homeOf(env);
  const { config } = await openSettings(home).load();
  const parts = { models: () => Promise.reject(new Error("no models")), notice: () => undefined };
  const host = await PluginHost.open({ home, config, parts });
  hosts.push(host);
  await host.settle();
  const provider = await host.memoryProvider(name);
  if (!provider) throw new Error(`${name} is missing`);
  return provider;
}

const call = async (provider: MemoryProvider, name: string, args: JsonObject) =>
  JSON.parse(await provider.handleToolCall(name, args)) as {
    [key: string]: unknown;
    fact_id: number;
    results: { fact_id: number; content: string; trust: number; source: string }[];
  };

describe("holographic", () => {
  async function start(entries: object = {}) {
    const provider = await openProvider("holographic", {}, { holographic: entries });
    await provider.initialize({ ...init, sessionId: "s1", hermesHome: folder });
    return provider;
  }
  const store = (provider: MemoryProvider, args: JsonObject) => call(provider, "fact_store", args);

  it("keeps facts with time, source and trust, and finds them by their words", async () => {
    const provider = await start();
    const added = await store(provider, {
      action: "add",
      content: "Ada deploys with Nomad on Fridays",
      category: "project",
    });
    expect((await store(provider, { action: "add", content: "Ada deploys with Nomad on Fridays" })).status).toBe(
      "known already",
    );
    const { results } = await store(provider, { action: "search", query: "how does Ada deploy?" });
    expect(results).toMatchObject([{ fact_id: added.fact_id, trust: 0.5, source: "session s1", category: "project" }]);
    expect(await provider.prefetch("when are deploys with nomad?", "s1")).toMatch(
      /fact 1, trust 0\.50, \d{4}-\d\d-\d\d, session s1\] Ada deploys/,
    );
    expect(await provider.prefetch("'); DROP TABLE facts; --", "s1")).toBe("");
    expect(provider.systemPromptBlock()).toContain("1 facts are stored");
  });

  it("lets the newest fact win and keeps the old one readable", async () => {
    const provider = await start();
    const { fact_id: old } = await store(provider, { action: "add", content: "The office of Initech is in Berlin" });
    const { fact_id: next } = await store(provider, {
      action: "update",
      fact_id: old,
      content: "The office of Initech is in Lisbon",
    });
    const now = await store(provider, { action: "search", query: "Initech office" });
    expect(now.results.map((fact) => fact.content)).toEqual(["The office of Initech is in Lisbon"]);
    const all = await store(provider, { action: "search", query: "Initech office", history: true });
    expect(all.results.find((fact) => fact.fact_id === old)).toMatchObject({ superseded_by: next });
    expect((await store(provider, { action: "probe", entity: "Initech" })).results).toHaveLength(1);
  });

  it("sinks what is unhelpful below recall, and raises what helps", async () => {
    const provider = await start();
    const { fact_id } = await store(provider, { action: "add", content: "The staging server is called Hopper" });
    expect((await call(provider, "fact_feedback", { action: "helpful", fact_id })).trust).toBeCloseTo(0.55);
    for (let round = 0; round < 3; round++) await call(provider, "fact_feedback", { action: "unhelpful", fact_id });
    expect(await provider.prefetch("staging server", "s1")).toBe("");
    expect((await call(provider, "fact_feedback", { action: "helpful", fact_id: 99 })).error).toContain("no fact 99");
  });

  it("connects what is mentioned together and finds what may conflict", async () => {
    const provider = await start();
    await store(provider, { action: "add", content: "Grace Hopper leads Project Orion" });
    await store(provider, { action: "add", content: "The budget of Project Orion is 10 million" });
    await store(provider, { action: "add", content: "The budget of Project Orion is 12 million" });
    const related = await store(provider, { action: "related", entity: "project orion" });
    expect(JSON.stringify(related.results)).toContain("Grace Hopper");
    const both = await store(provider, { action: "reason", entities: ["Grace Hopper", "Project Orion"] });
    expect(both.results.map((fact) => fact.content)).toEqual(["Grace Hopper leads Project Orion"]);
    const conflicts = await store(provider, { action: "contradict" });
    expect(conflicts.results).toMatchObject([
      { older_content: expect.stringContaining("10"), newer_content: expect.stringContaining("12") },
    ]);
    expect((await store(provider, { action: "remove", fact_id: 1 })).removed).toBe(true);
    expect((await store(provider, { action: "list" })).count).toBe(2);
  });

  it("hears of notes, extracts only when asked to, and tells reading from writing", async () => {
    const quiet = await start();
    const said = [{ role: "user" as const, content: "I prefer tabs over spaces. Hello there." }];
    await quiet.onSessionEnd?.(said);
    await quiet.onMemoryWrite?.({ action: "add", target: "user", content: "Speaks Thai", metadata: {} });
    expect(JSON.stringify(await store(quiet, { action: "list" }))).not.toContain("tabs");
    const keen = await start({ auto_extract: "true" });
    await keen.onSessionEnd?.(said);
    const listed = JSON.stringify(await store(keen, { action: "list" }));
    expect(listed).toContain("I prefer tabs over spaces.");
    expect(listed).toContain("Speaks Thai");
    expect(listed).not.toContain("Hello there");
    expect(keen.writes?.("fact_store", { action: "search" })).toBe(false);
    expect(keen.writes?.("fact_store", { action: "add" })).toBe(true);
  });

  it("opens a store that v0.14 wrote", async () => {
    const db = new Database(join(folder, "memory_store.db"));
    db.exec(`CREATE TABLE facts (fact_id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL UNIQUE, category TEXT DEFAULT 'general', tags TEXT DEFAULT '', trust_score REAL DEFAULT 0.5, retrieval_count INTEGER DEFAULT 0, helpful_count INTEGER DEFAULT 0, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, hrr_vector BLOB);
      CREATE VIRTUAL TABLE facts_fts USING fts5(content, tags, content=facts, content_rowid=fact_id);
      CREATE TRIGGER facts_ai AFTER INSERT ON facts BEGIN INSERT INTO facts_fts(rowid, content, tags) VALUES (new.fact_id, new.content, new.tags); END;
      INSERT INTO facts (content) VALUES ('An old fact about walruses');`);
    db.close();
    const provider = await start();
    expect(await provider.prefetch("what about walruses", "s")).toContain("An old fact about walruses");
  });
});

describe("mem0", () => {
  let service: FakeMem0;

  beforeEach(async () => {
    service = await startFakeMem0();
  });

  afterEach(() => service.close());

  const env = () => ({ MEM0_API_KEY: "m0-test-key", MEM0_BASE_URL: service.url });

  async function start(more: { [name: string]: string } = {}, userId?: string) {
    const provider = await openProvider("mem0", { ...env(), ...more });
    await provider.initialize({ ...init, sessionId: "s1", hermesHome: folder, ...(userId ? { userId } : {}) });
    return provider;
  }

  it("keeps, searches and lists through the service's own routes", async () => {
    const provider = await start({}, "ada");
    expect((await call(provider, "mem0_conclude", { conclusion: "Prefers short answers" })).result).toBe("Kept.");
    const found = await call(provider, "mem0_search", { query: "answers", top_k: 3 });
    expect(found.results).toMatchObject([{ memory: "Prefers short answers", score: 0.9 }]);
    expect((await call(provider, "mem0_profile", {})).result).toBe("Prefers short answers");
    expect(service.requests[0]).toMatchObject({
      path: "/v1/memories/",
      body: {
        user_id: "ada",
        agent_id: "hermes",
        infer: false,
        messages: [{ role: "user", content: "Prefers short answers" }],
      },
    });
    expect(service.requests[1]?.body).toMatchObject({ top_k: 3, filters: { AND: [{ user_id: "ada" }] } });
  });

  it("hands over turns in the background and waits for them when it is closed", async () => {
    const provider = await start();
    service.delayMs = 150;
    provider.syncTurn("I live in Hanoi", "Noted.", "s1");
    await provider.shutdown();
    expect(service.requests[0]?.body).toMatchObject({ user_id: "hermes-user", infer: true });
    service.delayMs = 0;
    expect(await provider.prefetch("where in hanoi", "s1")).toContain("I live in Hanoi");
  });

  it("recalls nothing rather than late", async () => {
    const provider = await start();
    service.delayMs = 10_000;
    const began = Date.now();
    expect(await provider.prefetch("anything at all", "s1")).toBe("");
    expect(Date.now() - began).toBeLessThan(8_000);
  });

  it("leaves a failing service alone after five failures", async () => {
    const provider = await start();
    service.status = 503;
    for (let round = 0; round < 5; round++)
      expect((await call(provider, "mem0_search", { query: "x" })).error).toContain("503");
    const rested = await call(provider, "mem0_search", { query: "x" });
    expect(rested.error).toMatch(/next try is in 1[12]\d s/);
    expect(service.requests).toHaveLength(5);
    expect(await provider.prefetch("anything", "s1")).toBe("");
  });

  it("does not count its own mistakes as the service's, and never shows the key", async () => {
    const provider = await start({ MEM0_API_KEY: "m0-wrong-key" });
    for (let round = 0; round < 7; round++) {
      const { error } = await call(provider, "mem0_search", { query: "x" });
      expect(error).toContain("401");
      expect(error).not.toContain("m0-wrong-key");
    }
    expect(service.requests).toHaveLength(7);
  });

  it("is set up, reported and switched off", async () => {
    const home = homeOf(env());
    const actions = openMemoryActions(home);
    const setup = await actions.setup("mem0");
    expect(setup.fields.map((field) => field.key)).toEqual(["api_key", "user_id", "agent_id", "rerank"]);
    await setup.finish({ user_id: "grace" });
    await setup.close();
    expect(JSON.parse(readFileSync(join(folder, "mem0.json"), "utf8"))).toEqual({ user_id: "grace" });
    const status = await actions.status();
    expect(status).toMatchObject({ provider: "mem0", state: "ready" });
    expect(status.providers.map((row) => row.name).sort()).toEqual(["holographic", "mem0"]);
    const keyless = await openMemoryActions(homeOf()).status();
    expect(keyless.state).toContain("not set up");
    expect(await actions.off()).toBe(true);
    expect((await actions.status()).provider).toBe("");
    await expect(actions.setup("mem1")).rejects.toThrow('did you mean "mem0"?');
  });
});

it("erases notes only when they are meant", async () => {
  const home = homeOf();
  mkdirSync(join(folder, "memories"));
  for (const name of ["MEMORY.md", "USER.md"]) writeFileSync(join(folder, "memories", name), "something");
  expect(await openMemoryActions(home).reset("user")).toEqual([join(folder, "memories", "USER.md")]);
  expect(existsSync(join(folder, "memories", "MEMORY.md"))).toBe(true);
  expect(await openMemoryActions(home).reset("all")).toHaveLength(1);
});
