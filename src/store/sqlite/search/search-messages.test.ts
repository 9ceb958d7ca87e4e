import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { tempDir } from "../../../../test/kit/temp-dir.ts";
import type { SearchOptions } from "../../../core/store/session.ts";
import { createCjkIndex } from "../../runtime/cjk-index.ts";
import { openRuntimeDb } from "../../runtime-db.ts";
import { type Database, openDatabase } from "../connection/driver.ts";
import { ensureIndex } from "../index/health.ts";
import { createBaseSchema } from "../schema.ts";
import { type SideIndex, searchMessages } from "./search-messages.ts";

let folder: string;
let db: Database;
let runtime: Database;
let side: SideIndex | undefined;
let clock: number;

beforeEach(() => {
  folder = tempDir("hermes-search-");
  db = openDatabase(join(folder, "state.db"));
  db.pragma("journal_mode = WAL");
  createBaseSchema(db);
  ensureIndex(db);
  runtime = openRuntimeDb(join(folder, "runtime.db"));
  side = createCjkIndex(runtime, db);
  clock = 1000;
  for (const source of ["cli", "telegram", "discord"]) {
    db.prepare("INSERT INTO sessions(id, source, user_id, model, started_at) VALUES (?, ?, ?, 'm', 1)").run(
      source,
      source,
      `user-${source}`,
    );
  }
});

afterEach(() => {
  db.close();
  runtime.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Extra {
  session?: string;
  role?: string;
  tool_name?: string;
  tool_calls?: string;
  timestamp?: number;
}

function add(content: string | null, extra: Extra = {}): number {
  clock += 1;
  return db
    .prepare(
      "INSERT INTO messages(session_id, role, content, tool_name, tool_calls, timestamp) VALUES (?, ?, ?, ?, ?, ?)",
    )
    .run(
      extra.session ?? "cli",
      extra.role ?? "user",
      content,
      extra.tool_name ?? null,
      extra.tool_calls ?? null,
      extra.timestamp ?? clock,
    ).lastInsertRowid;
}

function search(query: string, options?: SearchOptions) {
  return searchMessages(db, query, options, side).hits;
}

function ids(query: string, options?: SearchOptions): number[] {
  return search(query, options)
    .map((hit) => hit.id)
    .sort((a, b) => a - b);
}

describe("words", () => {
  test("words, phrases, OR, NOT, AND and prefixes work", () => {
    const both = add("docker deployment guide");
    const docker = add("docker only");
    const kubernetes = add("kubernetes deploying");
    expect(ids("docker deployment")).toEqual([both]);
    expect(ids("docker AND deployment")).toEqual([both]);
    expect(ids("docker OR kubernetes")).toEqual([both, docker, kubernetes]);
    expect(ids("docker NOT guide")).toEqual([docker]);
    expect(ids("docker AND NOT guide")).toEqual([docker]);
    expect(ids("deploy*")).toEqual([both, kubernetes]);
    expect(ids('"deployment guide"')).toEqual([both]);
    expect(ids('"guide deployment"')).toEqual([]);
    expect(ids("(docker OR kubernetes) deploy*")).toEqual([both, kubernetes]);
  });

  test.each([
    ["what's up", "so what's up with it"],
    ["what's up?", "so what's up with it"],
    ["foo/bar", "see foo/bar for more"],
    ["foo:bar", "the key foo:bar is set"],
    ["hello,", "well hello there"],
    ["C++", "I write C++ daily"],
    ["chat-send", "the chat-send command"],
    ["my-app.config.ts", "edit my-app.config.ts now"],
    ["snake_case_name", "call snake_case_name()"],
    ['"exact phrase', "an exact phrase here"],
    ["hello AND", "hello there"],
    ["OR world", "a world apart"],
    ["NOT java", "java is here"],
    ["AND", ""],
    ["***", ""],
    ["(hello", "hello again"],
    ["hello)", "hello again"],
    ["f(x)", "compute f(x) first"],
    ["user@example.com", "mail user@example.com please"],
    ["price $5.00", "the price is $5.00 today"],
    ["{json} [list]", "json in a list"],
    ["-flag", "use -flag here"],
    ["^start", "start of line"],
    ["a:b:c NEAR(x, 2)", ""],
    ["café", "the Cafe opens"],
    ["' OR 1=1 --", "or 1=1 is old"],
    ["naïve-approach", "a naive approach"],
  ])("%s finds what it should and never fails", (query, text) => {
    const id = text === "" ? 0 : add(text);
    add("an unrelated remark");
    expect(ids(query)).toEqual(text === "" ? [] : [id]);
  });

  test("blank queries and empty allow-lists find nothing; an empty exclude list excludes nothing", () => {
    const id = add("hello");
    expect(ids("  ")).toEqual([]);
    expect(ids("hello", { sourceFilter: [] })).toEqual([]);
    expect(ids("hello", { sessionIds: [] })).toEqual([]);
    expect(ids("hello", { excludeSources: [] })).toEqual([id]);
    expect(ids("hello", { roleFilter: [] })).toEqual([id]);
  });

  test("filters by source, role, user and session combine, and pages do not overlap", () => {
    const cli = add("needle", { role: "user" });
    const telegram = add("needle", { session: "telegram", role: "assistant" });
    const discord = add("needle", { session: "discord" });
    expect(ids("needle", { sourceFilter: ["cli", "discord"] })).toEqual([cli, discord]);
    expect(ids("needle", { excludeSources: ["cli"] })).toEqual([telegram, discord]);
    expect(ids("needle", { sourceFilter: ["cli", "telegram"], excludeSources: ["cli"] })).toEqual([telegram]);
    expect(ids("needle", { roleFilter: ["assistant"] })).toEqual([telegram]);
    expect(ids("needle", { userId: "user-discord" })).toEqual([discord]);
    expect(ids("needle", { sessionIds: ["cli", "telegram"] })).toEqual([cli, telegram]);
    const pages = [0, 1, 2].flatMap((offset) => ids("needle", { limit: 1, offset }));
    expect(pages.sort((a, b) => a - b)).toEqual([cli, telegram, discord]);
  });

  test("tool names and arguments are found", () => {
    const named = add("done", { role: "tool", tool_name: "web_search" });
    const called = add(null, {
      role: "assistant",
      tool_calls: '[{"function":{"name":"terminal","arguments":"xyzzy"}}]',
    });
    expect(ids("web_search")).toEqual([named]);
    expect(ids("xyzzy")).toEqual([called]);
    expect(search("xyzzy")[0]?.snippet).toContain(">>>xyzzy<<<");
  });
});

describe("a hit", () => {
  test("has a snippet, session fields and its neighbours by time, also when sessions interleave", () => {
    add("first of cli");
    add("other session", { session: "telegram" });
    add(`needle ${"x".repeat(500)}`);
    add("noise", { session: "telegram" });
    add("last of cli");
    const [hit] = search("needle");
    expect(hit).toMatchObject({ session_id: "cli", source: "cli", model: "m", session_started: 1, tool_name: null });
    expect(hit?.snippet).toContain(">>>needle<<<");
    expect(hit?.context.map((item) => item.content.slice(0, 8))).toEqual(["first of", "needle x", "last of "]);
    expect(hit?.context[1]?.content).toHaveLength(200);
  });

  test("structured content is found, quoted and previewed without its encoding", () => {
    const content = `\u0000json:${JSON.stringify([
      { type: "text", text: "look at this giraffe please" },
      { type: "image_url", image_url: { url: "data:x" } },
    ])}`;
    const id = add(content);
    const [hit] = search("giraffe");
    expect(hit?.id).toBe(id);
    expect(hit?.snippet).toContain("look at this >>>giraffe<<< please");
    expect(hit?.snippet).not.toContain("json:");
    expect(hit?.context[0]?.content).toContain("look at this giraffe please");
  });
});

describe("JSON that v0.14 wrote in ASCII", () => {
  const ascii = (value: unknown) =>
    JSON.stringify(value).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const parts = (text: string) => `\u0000json:${ascii([{ type: "text", text }])}`;

  test("is found by words with letters beyond ASCII, in any case, whole or by their beginning", () => {
    const german = add(parts("eine Schöne Giraffe in Köln"));
    const russian = add(parts("Привет, мир: приветствие"));
    const plain = add("schöne Grüße");
    expect(ids("schöne")).toEqual([german, plain]);
    expect(ids("köln AND giraffe")).toEqual([german]);
    expect(ids("привет")).toEqual([russian]);
    expect(ids("приветств*")).toEqual([russian]);
    expect(ids("ветств")).toEqual([]);
    expect(ids("schöne NOT giraffe")).toEqual([plain]);
    expect(search("köln")[0]?.snippet).toContain("in >>>Köln<<<");
  });

  test("is found in the arguments of tools, page by page after the others", () => {
    const calls = (word: string) => ascii([{ function: { name: "say", arguments: ascii({ text: word }) } }]);
    const hidden = [1, 2, 3].map((n) => add(`call ${n}`, { tool_calls: calls("Größe") }));
    const plain = add("die Größe");
    const page = (offset: number) => search("größe", { limit: 2, offset }).map((hit) => hit.id);
    expect([page(0), page(2), page(4)]).toEqual([[plain, hidden[2]], [hidden[1], hidden[0]], []]);
    expect(search("größe", { limit: 2, offset: 1 })[0]?.snippet).toContain(">>>Größe<<<");
  });
});

describe("CJK", () => {
  for (const mode of ["with the side index", "without it"]) {
    describe(mode, () => {
      beforeEach(() => {
        if (mode === "without it") side = undefined;
      });

      test("one, two, three and more characters are found, in Chinese, Japanese and Korean", () => {
        const chinese = add("今天讨论数据库备份的问题");
        const japanese = add("日本語のテスト");
        const korean = add("데이터베이스 백업");
        add("nothing of the kind");
        expect(ids("备份")).toEqual([chinese]);
        expect(ids("库")).toEqual([chinese]);
        expect(ids("题")).toEqual([chinese]);
        expect(ids("数据库")).toEqual([chinese]);
        expect(ids("数据库备份的")).toEqual([chinese]);
        expect(ids("テスト")).toEqual([japanese]);
        expect(ids("백업")).toEqual([korean]);
        expect(ids("备库")).toEqual([]);
        expect(ids("备份。")).toEqual([chinese]);
      });

      test("AND, OR and NOT keep their meaning, also across scripts and lengths", () => {
        const a = add("使用docker部署服务");
        const b = add("部署文档");
        const c = add("docker compose notes");
        const d = add("数据库部署docker");
        expect(ids("部署 文档")).toEqual([b]);
        expect(ids("部署 NOT 文档")).toEqual([a, d]);
        expect(ids("文档 OR 数据库")).toEqual([b, d]);
        expect(ids("docker 部署")).toEqual([a, d]);
        expect(ids("部署 NOT docker")).toEqual([b]);
        expect(ids("docker OR 文档")).toEqual([a, b, c, d]);
        expect(ids("(文档 OR 数据库) 部署")).toEqual([b, d]);
      });

      test("filters, wildcards as plain text, newest first, no duplicates, snippet with markers", () => {
        const one = add("备份 100% 完成 备份", { session: "cli" });
        const two = add("备份", { session: "telegram", role: "assistant" });
        expect(search("备份").map((hit) => hit.id)).toEqual([two, one]);
        expect(ids("备份", { sourceFilter: ["cli"] })).toEqual([one]);
        expect(ids("备份", { excludeSources: ["cli"] })).toEqual([two]);
        expect(ids("备份", { roleFilter: ["assistant"] })).toEqual([two]);
        expect(ids("备份", { limit: 1, offset: 1 })).toEqual([one]);
        expect(ids('"% 完"')).toEqual([one]);
        expect(ids("备%")).toEqual([one, two]);
        expect(search("完成")[0]?.snippet).toContain(">>>完成<<<");
      });

      test("structured content is found", () => {
        const id = add(`\u0000json:${JSON.stringify([{ type: "text", text: "照片里的长颈鹿很高" }])}`);
        expect(ids("照片")).toEqual([id]);
        expect(ids("长颈鹿")).toEqual([id]);
        expect(search("照片")[0]?.snippet).toBe(">>>照片<<<里的长颈鹿很高");
      });

      test("changes and deletions are found", () => {
        const id = add("旧的内容");
        expect(ids("旧的")).toEqual([id]);
        db.prepare("UPDATE messages SET content = '别的' WHERE id = ?").run(id);
        expect(ids("旧的")).toEqual([]);
        db.prepare("DELETE FROM messages WHERE id = ?").run(id);
        expect(ids("旧的")).toEqual([]);
      });
    });
  }

  test("text that another program escaped as ASCII JSON is found through the side index", () => {
    const id = add('\u0000json:[{"type": "text", "text": "\\u5927\\u718a\\u732b"}]');
    expect(ids("熊猫")).toEqual([id]);
    expect(ids("大熊猫")).toEqual([id]);
  });
});

describe("without a usable index", () => {
  test("the answer comes from the messages, with a notice", () => {
    const id = add("the docker-compose file");
    add("dockers elsewhere");
    db.exec("DROP TABLE messages_fts");
    const answer = searchMessages(db, "docker-compose");
    expect(answer.hits.map((hit) => hit.id)).toEqual([id]);
    expect(answer.hits[0]?.snippet).toContain(">>>docker-compose<<<");
    expect(answer.notice).toMatch(/search index/);
    expect(searchMessages(db, "docker*").hits).toHaveLength(2);
    expect(searchMessages(db, "docker*", { limit: 1, offset: 1 }).hits.map((hit) => hit.id)).toEqual([id]);
  });

  test("a damaged runtime.db only makes search slower", () => {
    const id = add("备份");
    runtime.exec("DROP TABLE cjk_grams");
    expect(ids("备份")).toEqual([id]);
    expect(ensureIndex(db).state).toBe("ok");
  });
});
