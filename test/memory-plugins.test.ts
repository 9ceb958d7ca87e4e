// The bundled memory providers, through the host that loads them.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPluginHost } from "../src/app/open-plugins.ts";
import { openMemoryActions } from "../src/app/plugin-actions.ts";
import { openSettings } from "../src/config/api.ts";
import type { MemoryProvider } from "../src/core/memory.ts";
import type { JsonObject } from "../src/core/message.ts";
import { openHome } from "../src/home/api.ts";
import type { PluginHost } from "../src/plugins/plugin-host.ts";
import { openDatabase } from "../src/store/sqlite/connection/driver.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { type FakeMem0, startFakeMem0 } from "./servers/fake-mem0.ts";

let folder: string;
const hosts: PluginHost[] = [];
const init = { platform: "cli", agentContext: "primary", agentIdentity: "default", agentWorkspace: "hermes" };

beforeEach(() => {
  folder = tempDir("hermes-memory-");
});

afterEach(async () => {
  for (const host of hosts.splice(0)) await host.close();
  rmSync(folder, { recursive: true, force: true });
});

function createHome(env: { [name: string]: string } = {}) {
  return openHome([], { env: { HERMES_HOME: folder, ...env }, cwd: folder, platform: "linux", homedir: folder }).home;
}

async function openProvider(
  name: string,
  env: { [key: string]: string } = {},
  entries: object = {},
): Promise<MemoryProvider> {
  writeFileSync(join(folder, "config.yaml"), JSON.stringify({ memory: { provider: name }, plugins: { entries } }));
  const home = createHome(env);
  const { config } = await openSettings(home).load();
  const host = await openPluginHost(home, config, { notice: () => undefined });
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

interface Fact {
  readonly fact_id: number;
  readonly content: string;
  readonly trust: number;
  readonly source: string | null;
  readonly replaced_by: number | null;
}

describe("holographic", () => {
  async function start(entries: object = {}) {
    const provider = await openProvider("holographic", {}, { holographic: entries });
    await provider.initialize({ ...init, sessionId: "s1", hermesHome: folder });
    return provider;
  }
  const ask = async (provider: MemoryProvider, name: string, args: JsonObject) =>
    JSON.parse(await provider.handleToolCall(name, args)) as {
      readonly [key: string]: unknown;
      readonly fact_id: number;
      readonly facts: Fact[];
      readonly pairs: { older: Fact; newer: Fact }[];
    };
  const facts = (provider: MemoryProvider, action: string, args: JsonObject = {}) =>
    ask(provider, "fact_store", { action, ...args });

  it("keeps facts with time, source and trust, and finds them in other forms of their words", async () => {
    const provider = await start();
    const content = "Ada deploys with Nomad on Fridays";
    const kept = await facts(provider, "keep", { content, category: "project" });
    expect((await facts(provider, "keep", { content })).kept).toBe("it was already stored");
    const found = await facts(provider, "search", { query: "how did Ada deploy?" });
    expect(found.facts).toMatchObject([
      { fact_id: kept.fact_id, trust: 0.5, source: "session s1", category: "project" },
    ]);
    expect(await provider.prefetch("when is nomad used for deploying?", "s1")).toMatch(
      /- Ada deploys with Nomad on Fridays \(fact 1: \d{4}-\d\d-\d\d, session s1, trust 0\.50\)/,
    );
    expect(await provider.prefetch("'); DROP TABLE facts; --", "s1")).toBe("");
    expect(provider.systemPromptBlock()).toContain("1 fact is stored");
  });

  it("weighs rare words above common ones, and recalls nothing for one word of many", async () => {
    const provider = await start();
    for (let day = 1; day <= 20; day++)
      await facts(provider, "keep", { content: `The server had ${day}0 visitors on day ${day}` });
    await facts(provider, "keep", { content: "The server password is rotated by Grace" });
    const { facts: found } = await facts(provider, "search", { query: "server password" });
    expect(found[0]?.content).toContain("Grace");
    const wide = "Which server should we choose for the new shop in Rotterdam, and what does hosting cost?";
    expect(await provider.prefetch(wide, "s1")).toBe("");
  });

  it("finds words in scripts without spaces", async () => {
    const provider = await start();
    await facts(provider, "keep", { content: "用户喜欢喝绿茶" });
    await facts(provider, "keep", { content: "ผู้ใช้ชอบดื่มกาแฟดำ" });
    const one = await facts(provider, "search", { query: "绿茶" });
    expect(one.facts.map((fact) => fact.content)).toEqual(["用户喜欢喝绿茶"]);
    const two = await facts(provider, "search", { query: "กาแฟ" });
    expect(two.facts.map((fact) => fact.content)).toEqual(["ผู้ใช้ชอบดื่มกาแฟดำ"]);
  });

  it("prefers the newest fact and keeps the old one readable", async () => {
    const provider = await start();
    const old = await facts(provider, "keep", { content: "The office of Initech is in Berlin" });
    const next = await facts(provider, "correct", {
      fact_id: old.fact_id,
      content: "The office of Initech is in Lisbon",
    });
    expect(next.replaces).toBe(old.fact_id);
    const now = await facts(provider, "search", { query: "Initech office" });
    expect(now.facts.map((fact) => fact.content)).toEqual(["The office of Initech is in Lisbon"]);
    const all = await facts(provider, "search", { query: "Initech office", replaced: true });
    expect(all.facts.find((fact) => fact.fact_id === old.fact_id)).toMatchObject({ replaced_by: next.fact_id });
    expect((await facts(provider, "about", { names: ["Initech"] })).facts).toHaveLength(1);
    await facts(provider, "keep", { content: "The office of Initech is in Berlin" });
    expect((await facts(provider, "about", { names: ["initech"] })).facts).toHaveLength(2);
    expect((await facts(provider, "correct", { fact_id: 99, content: "x" })).error).toBe("there is no fact 99");
  });

  it("ranks unhelpful facts lower and helpful facts higher", async () => {
    const provider = await start();
    const { fact_id } = await facts(provider, "keep", { content: "The staging server is called Hopper" });
    const rate = (helpful: boolean, id = fact_id) => ask(provider, "fact_feedback", { fact_id: id, helpful });
    expect((await rate(true)).trust).toBeCloseTo(0.55);
    for (let round = 0; round < 3; round++) await rate(false);
    expect(await provider.prefetch("staging server", "s1")).toBe("");
    expect((await rate(true, 99)).error).toContain("no fact 99");
  });

  it("finds facts that mention the same names, and possible contradictions", async () => {
    const provider = await start();
    await facts(provider, "keep", { content: "Grace Hopper leads Project Orion" });
    await facts(provider, "keep", { content: "The budget of Project Orion is 10 million" });
    await facts(provider, "keep", { content: "The budget of Project Orion is 12 million" });
    expect((await facts(provider, "beside", { names: ["project orion"] })).names).toEqual([
      { name: "Grace Hopper", facts: 1 },
    ]);
    const both = await facts(provider, "about", { names: ["Grace Hopper", "Project Orion"] });
    expect(both.facts.map((fact) => fact.content)).toEqual(["Grace Hopper leads Project Orion"]);
    expect((await facts(provider, "conflicts")).pairs).toMatchObject([
      { older: { content: expect.stringContaining("10") }, newer: { content: expect.stringContaining("12") } },
    ]);
    expect((await facts(provider, "forget", { fact_id: 1 })).forgotten).toBe(true);
    expect((await facts(provider, "list")).facts).toHaveLength(2);
    expect((await facts(provider, "about", { names: ["Grace Hopper"] })).facts).toEqual([]);
  });

  it("receives notes, extracts only on request, and distinguishes reads from writes", async () => {
    const quiet = await start();
    const said = [{ role: "user" as const, content: "I prefer tabs over spaces. Hello there." }];
    await quiet.onSessionEnd?.(said);
    await quiet.onMemoryWrite?.({ action: "add", target: "user", content: "Speaks Thai", metadata: {} });
    expect(JSON.stringify(await facts(quiet, "list"))).not.toContain("tabs");
    const keen = await start({ auto_extract: "true" });
    await keen.onSessionEnd?.(said);
    const listed = JSON.stringify(await facts(keen, "list"));
    expect(listed).toContain("I prefer tabs over spaces.");
    expect(listed).toContain("Speaks Thai");
    expect(listed).not.toContain("Hello there");
    expect(keen.writes?.("fact_store", { action: "search" })).toBe(false);
    expect(keen.writes?.("fact_store", { action: "keep" })).toBe(true);
    expect((await facts(keen, "keep")).error).toBe("keep needs content");
    expect((await facts(keen, "constructor")).error).toContain("unknown action");
  });

  /** The table as v0.14 makes it, with an index that follows by triggers. */
  function byReference(statements: string): void {
    const db = openDatabase(join(folder, "memory_store.db"));
    db.exec(`CREATE TABLE IF NOT EXISTS facts (fact_id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL UNIQUE, category TEXT DEFAULT 'general', tags TEXT DEFAULT '', trust_score REAL DEFAULT 0.5, retrieval_count INTEGER DEFAULT 0, helpful_count INTEGER DEFAULT 0, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, hrr_vector BLOB);
      CREATE VIRTUAL TABLE IF NOT EXISTS theirs USING fts5(content, tags, content=facts, content_rowid=fact_id);
      CREATE TRIGGER IF NOT EXISTS on_insert AFTER INSERT ON facts BEGIN INSERT INTO theirs(rowid, content, tags) VALUES (new.fact_id, new.content, new.tags); END;
      CREATE TRIGGER IF NOT EXISTS on_update AFTER UPDATE ON facts BEGIN
        INSERT INTO theirs(theirs, rowid, content, tags) VALUES ('delete', old.fact_id, old.content, old.tags);
        INSERT INTO theirs(rowid, content, tags) VALUES (new.fact_id, new.content, new.tags); END;
      ${statements}`);
    db.close();
  }

  it("opens a store that v0.14 wrote, and sees what it writes later", async () => {
    byReference("INSERT INTO facts (content) VALUES ('An old fact about walruses');");
    expect(await (await start()).prefetch("what about walruses", "s")).toContain("An old fact about walruses");
    byReference(
      "INSERT INTO facts (content) VALUES ('Narwhals have one tusk'); UPDATE facts SET content = 'Seals have whiskers', updated_at = '2031-01-01 00:00:00' WHERE fact_id = 1;",
    );
    const later = await start();
    expect(await later.prefetch("tusk of narwhals", "s")).toContain("Narwhals have one tusk");
    expect(await later.prefetch("seals and whiskers", "s")).toContain("Seals have whiskers");
    expect(await later.prefetch("walruses", "s")).toBe("");
  });

  it("keeps an index of v0.14 intact, whichever program wrote first", async () => {
    await facts(await start(), "keep", { content: "Kept before their index was there" });
    byReference("");
    const provider = await start();
    await ask(provider, "fact_feedback", { fact_id: 1, helpful: true });
    await facts(provider, "keep", { content: "Kept with their index in place" });
    const db = openDatabase(join(folder, "memory_store.db"));
    expect(() => db.exec("INSERT INTO theirs(theirs) VALUES ('integrity-check')")).not.toThrow();
    expect(db.prepare("SELECT rowid FROM theirs WHERE theirs MATCH 'kept'").all()).toHaveLength(2);
    expect(db.pragma("integrity_check")).toBe("ok");
    db.close();
  });

  it("reads its settings where v0.14 keeps them", async () => {
    writeFileSync(
      join(folder, "config.yaml"),
      JSON.stringify({
        memory: { provider: "holographic" },
        plugins: { "hermes-memory-store": { default_trust: 0.8 } },
      }),
    );
    const home = createHome();
    const { config, warnings } = await openSettings(home).load();
    expect(warnings).toEqual([]);
    const host = await openPluginHost(home, config, { notice: () => undefined });
    hosts.push(host);
    await host.settle();
    const provider = await host.memoryProvider("holographic");
    if (!provider) throw new Error("missing");
    await provider.initialize({ ...init, sessionId: "s1", hermesHome: folder });
    await facts(provider, "keep", { content: "Trusted from the start" });
    expect((await facts(provider, "list")).facts[0]?.trust).toBe(0.8);
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
      path: "/v3/memories/add/",
      body: {
        user_id: "ada",
        agent_id: "hermes",
        infer: false,
        messages: [{ role: "user", content: "Prefers short answers" }],
      },
    });
    expect(service.requests[1]?.body).toEqual({
      query: "answers",
      top_k: 3,
      rerank: true,
      filters: { AND: [{ user_id: "ada" }] },
    });
    expect(service.requests[2]?.path).toBe("/v3/memories/?page=1&page_size=100");
  });

  it("works with a server that has only the older routes", async () => {
    service.older = true;
    const provider = await start({}, "ada");
    expect((await call(provider, "mem0_conclude", { conclusion: "Lives in Hanoi" })).result).toBe("Kept.");
    expect((await call(provider, "mem0_search", { query: "hanoi" })).results).toHaveLength(1);
    expect((await call(provider, "mem0_profile", {})).result).toBe("Lives in Hanoi");
    expect(service.requests.map(({ path }) => path)).toEqual([
      "/v3/memories/add/",
      "/v1/memories/",
      "/v2/memories/search/",
      "/v2/memories/?page=1&page_size=100",
    ]);
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

  it("returns nothing when the service is too slow", async () => {
    const provider = await start();
    service.delayMs = 10_000;
    const began = Date.now();
    expect(await provider.prefetch("anything at all", "s1")).toBe("");
    expect(Date.now() - began).toBeLessThan(8_000);
  });

  it("stops calling a failing service after five failures", async () => {
    const provider = await start();
    service.status = 503;
    for (let round = 0; round < 5; round++)
      expect((await call(provider, "mem0_search", { query: "x" })).error).toContain("503");
    const rested = await call(provider, "mem0_search", { query: "x" });
    expect(rested.error).toMatch(/next attempt is in 1[12]\d s/);
    expect(service.requests).toHaveLength(5);
    expect(await provider.prefetch("anything", "s1")).toBe("");
  });

  it("does not count client errors as failures of the service, and never shows the key", async () => {
    const provider = await start({ MEM0_API_KEY: "m0-wrong-key" });
    for (let round = 0; round < 7; round++) {
      const { error } = await call(provider, "mem0_search", { query: "x" });
      expect(error).toContain("401");
      expect(error).not.toContain("m0-wrong-key");
    }
    expect(service.requests).toHaveLength(7);
  });

  it("is set up, reported and switched off", async () => {
    const home = createHome(env());
    const actions = openMemoryActions(home);
    const setup = await actions.setup("mem0");
    expect(setup.fields.map((field) => field.key)).toEqual(["api_key", "user_id", "agent_id", "rerank"]);
    await setup.finish({ user_id: "grace" });
    await setup.close();
    expect(JSON.parse(readFileSync(join(folder, "mem0.json"), "utf8"))).toEqual({ user_id: "grace" });
    const status = await actions.status();
    expect(status).toMatchObject({ provider: "mem0", state: "ready" });
    expect(status.providers.map((row) => row.name).sort()).toEqual(["holographic", "mem0"]);
    const keyless = await openMemoryActions(createHome()).status();
    expect(keyless.state).toContain("not set up");
    expect(await actions.off()).toBe(true);
    expect((await actions.status()).provider).toBe("");
    await expect(actions.setup("mem1")).rejects.toThrow('did you mean "mem0"?');
  });
});

it("erases notes only on an explicit request", async () => {
  const home = createHome();
  mkdirSync(join(folder, "memories"));
  for (const name of ["MEMORY.md", "USER.md"]) writeFileSync(join(folder, "memories", name), "something");
  expect(await openMemoryActions(home).reset("user")).toEqual([join(folder, "memories", "USER.md")]);
  expect(existsSync(join(folder, "memories", "MEMORY.md"))).toBe(true);
  expect(await openMemoryActions(home).reset("all")).toHaveLength(1);
});
