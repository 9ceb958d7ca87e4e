// `hermes sessions` end to end, on a store with known content.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";

let home: TempHome;
const hermes = (...args: string[]) => runHermes(["sessions", ...args], { home: home.path });
const found = async (query: string) =>
  JSON.parse((await hermes("search", query, "--json")).stdout).map((hit: { session_id: string }) => hit.session_id);

beforeAll(async () => {
  home = tempHome();
  const store = await SqliteSessionStore.open({ path: join(home.path, "state.db") });
  const add = async (id: string, texts: readonly string[], source = "cli") => {
    await store.createSession({ id, source, model: "test/model" });
    for (const [index, content] of texts.entries())
      await store.appendMessage(id, { role: index % 2 === 0 ? "user" : "assistant", content });
  };
  await add("20260101_100000_aaaaaa", ["How do I write a docker-compose file?", "Start with services."]);
  await add("20260102_100000_bbbbbb", ["请帮我设置数据库备份", "好的，备份每天运行。"]);
  await add("20260103_100000_cccccc", ["Is this an exact phrase or not?", "Deployment went fine."]);
  await add("20260104_100000_dddddd", ["python is nice", "python and java compared"]);
  await add("20260105_100000_eeeeee", ['what\'s up with foo/bar:baz, C++ and "quotes"?', "Not much."]);
  await add("20260106_100000_ffffff", ["hidden from lists"], "tool");
  await store.setSessionTitle("20260101_100000_aaaaaa", "Compose help");
  await store.endSession("20260101_100000_aaaaaa", "cli_close");
  await store.close();
});

afterAll(() => home.remove());

describe("search", () => {
  it.each([
    ["docker-compose", ["20260101_100000_aaaaaa"]],
    ["备份", ["20260102_100000_bbbbbb"]],
    ["备", ["20260102_100000_bbbbbb"]],
    ["数据库备份", ["20260102_100000_bbbbbb"]],
    ['"exact phrase"', ["20260103_100000_cccccc"]],
    ["deploy*", ["20260103_100000_cccccc"]],
    ["python NOT java", ["20260104_100000_dddddd"]],
    ["what's up", ["20260105_100000_eeeeee"]],
    ["foo/bar", ["20260105_100000_eeeeee"]],
    ["foo:bar", ["20260105_100000_eeeeee"]],
    ["bar:baz", ["20260105_100000_eeeeee"]],
    ["C++", ["20260105_100000_eeeeee"]],
    ["nothing like this anywhere", []],
  ])("%s", async (query, sessions) => {
    expect([...new Set(await found(query))]).toEqual(sessions);
  });

  it("marks the match and shows where it is", async () => {
    const { stdout, code } = await hermes("search", "docker-compose");
    expect(code).toBe(0);
    expect(stdout).toContain("20260101_100000_aaaaaa · user · cli");
    expect(stdout).toMatch(/>>>docker-compose<<<|>>>docker<<<->>>compose<<</);
  });

  it("says when nothing was asked for", async () => {
    const { code, stderr } = await hermes("search");
    expect(code).toBe(2);
    expect(stderr).toContain("which words");
  });
});

it("lists with titles, hides tool sessions unless asked for, and prints JSON", async () => {
  const { stdout } = await hermes("list");
  expect(stdout).toContain("Compose help");
  expect(stdout).not.toContain("hidden from lists");
  expect((await hermes("list", "--source", "tool")).stdout).toContain("hidden from lists");
  const rows = JSON.parse((await hermes("list", "--json", "--limit", "2")).stdout);
  expect(rows).toHaveLength(2);
  expect(rows[0]).toMatchObject({ source: "cli", preview: expect.any(String), last_active: expect.any(Number) });
  expect(rows[0]).not.toHaveProperty("system_prompt");
});

it("shows, renames and finds by prefix or title; explains what it cannot find", async () => {
  expect((await hermes("show", "20260103")).stdout).toContain("Deployment went fine.");
  expect((await hermes("show", "Compose help")).stdout).toContain("docker-compose");
  expect((await hermes("rename", "20260103", "Phrase", "talk")).stdout).toContain('"Phrase talk"');
  const clash = await hermes("rename", "20260104", "Phrase talk");
  expect(clash.code).not.toBe(0);
  expect(clash.stderr).toContain("already in use");
  const missing = await hermes("show", "2026");
  expect(missing.code).toBe(1);
  expect(missing.stderr).toContain("hermes sessions list");
});

it("exports everything, and another home imports it whole", async () => {
  const file = join(home.path, "all.jsonl");
  expect((await hermes("export", file)).stdout).toContain("6 sessions");
  const lines = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toHaveLength(6);
  expect((await hermes("export", "-", "--session-id", "20260102")).stdout).toContain("数据库备份");
  const other = tempHome();
  try {
    const run = (...args: string[]) => runHermes(["sessions", ...args], { home: other.path });
    expect(JSON.parse((await run("import", file, "--json")).stdout)).toMatchObject({
      imported: 6,
      skipped: 0,
      messages: 11,
      problems: [],
    });
    expect(JSON.parse((await run("import", file, "--json")).stdout)).toMatchObject({ imported: 0, skipped: 6 });
    expect((await run("search", "备份")).stdout).toContain("20260102_100000_bbbbbb");
    const third = tempHome();
    const direct = await runHermes(["sessions", "import", join(other.path, "state.db"), "--json"], {
      home: third.path,
    });
    expect(JSON.parse(direct.stdout)).toMatchObject({ imported: 6 });
    third.remove();
    writeFileSync(join(other.path, "bad.jsonl"), "{nonsense\n");
    const bad = await run("import", join(other.path, "bad.jsonl"));
    expect(bad.code).toBe(1);
    expect(bad.stderr).toContain("line 1");
  } finally {
    other.remove();
  }
});

it("asks before it deletes, treats no answer as a no, and prunes only what has ended", async () => {
  const refused = await runHermes(["sessions", "delete", "20260104"], { home: home.path, stdin: "" });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("Nothing was changed");
  expect(JSON.parse((await hermes("prune", "--older-than", "0", "--yes", "--json")).stdout)).toEqual({ pruned: 1 });
  expect((await hermes("list")).stdout).not.toContain("Compose help");
  expect((await hermes("delete", "20260104", "--yes")).stdout).toContain("2 messages");
  expect(await found("java")).toEqual([]);
});

it("makes the index compact and back, with the same answers", async () => {
  const compact = JSON.parse((await hermes("optimize", "--json")).stdout);
  expect(compact.layout).toBe("compact");
  expect(JSON.parse((await hermes("stats", "--json")).stdout)).toMatchObject({
    indexLayout: "compact",
    health: { state: "ok" },
  });
  expect([...new Set(await found("备份"))]).toEqual(["20260102_100000_bbbbbb"]);
  expect([...new Set(await found("deploy*"))]).toEqual(["20260103_100000_cccccc"]);
  expect(readFileSync(join(home.path, "config.yaml"), "utf8")).toContain("index: compact");
  expect(JSON.parse((await hermes("optimize", "--inline", "--json")).stdout).layout).toBe("inline");
  expect(JSON.parse((await hermes("repair", "--json")).stdout)).toMatchObject({ integrity: "ok", problems: [] });
});

it("names the file and the hint when the file is not a database, and does not change it", async () => {
  const broken = tempHome();
  writeFileSync(join(broken.path, "state.db"), "this is not a database, but somebody's notes\n".repeat(50));
  const { code, stderr } = await runHermes(["sessions", "list"], { home: broken.path });
  expect(code).toBe(1);
  expect(stderr).toContain(join(broken.path, "state.db"));
  expect(readFileSync(join(broken.path, "state.db"), "utf8")).toContain("somebody's notes");
  expect(existsSync(join(broken.path, "state.db"))).toBe(true);
  broken.remove();
});

it("suggests the correct name for a wrong command or flag", async () => {
  const command = await hermes("lst");
  expect(command).toMatchObject({ code: 2 });
  expect(command.stderr).toContain('did you mean "list"');
  const flag = await hermes("list", "--limt", "3");
  expect(flag).toMatchObject({ code: 2 });
  expect(flag.stderr).toContain("--limit");
  const number = await hermes("list", "--limit", "many");
  expect(number.stderr).toContain("whole number");
});

it("shows messages of any shape", async () => {
  const other = tempHome();
  const store = await SqliteSessionStore.open({ path: join(other.path, "state.db") });
  await store.createSession({ id: "shapes", source: "cli" });
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  await store.appendMessage("shapes", { role: "user", content: [{ type: "text", text: "look" }, image] });
  await store.appendMessage("shapes", { role: "assistant", content: { odd: "object" } });
  await store.close();
  const { stdout } = await runHermes(["sessions", "show", "shapes"], { home: other.path });
  expect(stdout).toContain("look\n[image]");
  expect(stdout).toContain('{"odd":"object"}');
  other.remove();
});
