// Files exchanged with Hermes Agent v0.14: each program opens, extends and reads files of the other.
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import type { SearchHit } from "../src/core/store/session.ts";
import { type Database, openDatabase } from "../src/store/sqlite/connection/driver.ts";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { fullProof } from "./kit/full-proof.ts";
import { runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { findReference, type Reference, type ReferenceCall, unwrapResult } from "./reference/reference.ts";
import { histories, type Operation } from "./reference/reference-operations.ts";
import { QUERIES, QUESTIONS } from "./reference/reference-reads.ts";

const found = findReference();
const missing = "missing" in found ? found.missing : undefined;
const reference = found as Reference;
if (missing) process.stderr.write(`interchange tests are skipped: ${missing}\n`);

const homes: string[] = [];
function newHome(): string {
  const home = tempDir("hermes-reference-");
  homes.push(home);
  return home;
}

afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

const openStore = (home: string) => SqliteSessionStore.open({ path: join(home, "state.db") });

function inspect<T>(home: string, read: (db: Database) => T): T {
  const db = openDatabase(join(home, "state.db"));
  try {
    return read(db);
  } finally {
    db.close();
  }
}

/** Runs the history in both programs; what each step answered, failures only as such. */
async function runBoth(history: readonly Operation[], layout: "inline" | "compact") {
  const theirs = newHome();
  const ours = newHome();
  const answers = await reference.run(theirs, history);
  const store = await openStore(ours);
  if (layout === "compact") await store.setIndexLayout("compact");
  const own: unknown[] = [];
  for (const step of history) {
    own.push(
      await step.run(store).then(
        (value) => value ?? null,
        () => "failed",
      ),
    );
  }
  await store.close();
  return { theirs, ours, answers: answers.map((answer) => ("error" in answer ? "failed" : answer.value)), own };
}

/** What must be the same in two files that had the same history: everything but the moments. */
function readContent(home: string) {
  return inspect(home, (db) => {
    const json = (value: unknown) => {
      const text = String(value);
      const start = text.startsWith("\u0000json:") ? 6 : 0;
      try {
        return JSON.parse(text.slice(start)) as unknown;
      } catch {
        return value;
      }
    };
    const clean = (row: { [column: string]: unknown }) =>
      Object.fromEntries(
        Object.entries(row).map(([column, value]) => {
          if (/_at$|^timestamp$/.test(column)) return [column, value === null ? null : typeof value];
          const structured = /^(content|tool_calls|model_config|reasoning_details|codex_.*)$/.test(column);
          return [column, structured ? json(value) : value];
        }),
      );
    const all = (sql: string) => db.prepare<{ [column: string]: unknown }>(sql).all().map(clean);
    const topics = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'telegram_dm_topic_bindings'").get();
    return {
      sessions: all("SELECT * FROM sessions ORDER BY id"),
      messages: all("SELECT * FROM messages ORDER BY id"),
      // A refused binding leaves their migration behind; here it is undone together with the binding.
      meta: all("SELECT * FROM state_meta WHERE key NOT LIKE 'telegram%' ORDER BY key"),
      topics: topics ? all("SELECT * FROM telegram_dm_topic_bindings ORDER BY thread_id") : [],
    };
  });
}

/** Asks both programs the same about one file. */
async function compareAnswers(home: string): Promise<void> {
  const theirs = await reference.run(home, [
    ...QUESTIONS,
    ...QUERIES.map((query) => ({ call: "db.search_messages", args: { query, limit: 100 } })),
  ]);
  const store = await openStore(home);
  try {
    for (const [index, question] of QUESTIONS.entries()) {
      const ours = JSON.parse(JSON.stringify(await question.ask(store)));
      const answer = unwrapResult(theirs[index]);
      const label = `${question.call} ${JSON.stringify(question.args)}`;
      expect(ours, label).toEqual(question.fair ? question.fair(answer, ours) : answer);
    }
    for (const [index, query] of QUERIES.entries()) {
      const ids = (hits: readonly SearchHit[]) => hits.map((hit) => hit.id).sort((a, b) => a - b);
      const known = ids(unwrapResult(theirs[QUESTIONS.length + index]));
      const hits = ids((await store.searchMessages(query, { limit: 100 })).hits);
      expect(hits, `search ${query}`).toEqual(expect.arrayContaining(known));
    }
    expect((await store.health()).state).toBe("ok");
  } finally {
    await store.close();
  }
}

/** Queries of our command line, as data. */
async function hermes<T>(home: string, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await runHermes(args, { home });
  expect(`${code} ${stderr}`).toMatch(/^0 /);
  return JSON.parse(stdout) as T;
}

const calls = (...steps: readonly [call: string, args: ReferenceCall["args"]][]): ReferenceCall[] =>
  steps.map(([call, args]) => (args ? { call: `db.${call}`, args } : { call: `db.${call}` }));

/** The catalog and every column, without the white space between words. */
function readSchema(home: string) {
  return inspect(home, (db) => {
    const rows = db
      .prepare<{ type: string; name: string; tbl_name: string; sql: string | null }>("SELECT * FROM sqlite_master")
      .all();
    const words = (sql: string | null) => sql?.replace(/\s+/g, " ").replace(/ ?([(),]) ?/g, "$1") ?? null;
    const tables = rows.filter((row) => row.type === "table").map((row) => row.name);
    const about = (name: string) =>
      ["table_xinfo", "foreign_key_list", "index_list"].map((what) => db.prepare(`PRAGMA ${what}(${name})`).all());
    const settings = ["user_version", "application_id", "page_size", "auto_vacuum", "encoding", "journal_mode"];
    return {
      objects: Object.fromEntries(rows.map((row) => [`${row.type} ${row.name}`, [row.tbl_name, words(row.sql)]])),
      columns: Object.fromEntries(tables.map((name) => [name, about(name)])),
      settings: Object.fromEntries(settings.map((name) => [name, db.pragma(name)])),
      version: db.prepare("SELECT * FROM schema_version").all(),
    };
  });
}

describe("a file of Hermes Agent v0.14", () => {
  it.skipIf(missing !== undefined)("has the same objects, columns, defaults and settings as one of ours", async () => {
    const theirs = newHome();
    const ours = newHome();
    await reference.run(theirs, calls(["apply_telegram_topic_migration", {}]));
    const store = await openStore(ours);
    await store.applyTelegramTopicMigration();
    await store.close();
    expect(readSchema(ours)).toEqual(readSchema(theirs));
  });

  it.skipIf(missing !== undefined)(
    "answers the same as one of ours after the same history, to both programs",
    async () => {
      await fc.assert(
        fc.asyncProperty(histories, fc.constantFrom("inline" as const, "compact" as const), async (history, layout) => {
          const { theirs, ours, answers, own } = await runBoth(history, layout);
          expect(own).toEqual(answers);
          expect(readContent(ours)).toEqual(readContent(theirs));
          await compareAnswers(theirs);
          await compareAnswers(ours);
        }),
        {
          numRuns: fullProof ? 50 : 3,
          seed: Number(process.env.HERMES_REFERENCE_SEED ?? 14),
        },
      );
    },
  );

  it.skipIf(missing !== undefined)("can be written by both programs at the same moment", async () => {
    const home = newHome();
    const store = await openStore(home);
    await store.createSession({ id: "shared", source: "cli" });
    const content = "written together";
    const one = { call: "db.append_message", args: { session_id: "shared", role: "user", content } };
    const theirs = reference.run(
      home,
      Array.from({ length: 150 }, () => one),
    );
    for (let n = 0; n < 150; n++) await store.appendMessage("shared", { role: "user", content });
    expect((await theirs).filter((result) => "error" in result)).toEqual([]);
    expect((await store.getSession("shared"))?.message_count).toBe(300);
    expect((await store.searchMessages("together", { limit: 500 })).hits).toHaveLength(300);
    expect((await store.repair()).problems).toEqual([]);
    await store.close();
  });
});

const PART = [{ type: "text", text: "schöne Giraffe" }];
const TOOL_CALL = { id: "c1", type: "function", function: { name: "terminal", arguments: '{"command": "ls"}' } };
const FIRST = "20260101_100000_aaaaaa";
const SECOND = "20260101_110000_bbbbbb";
const CHAT = "20260102_100000_cccccccc";

/** Two sessions of which the second continues the first, and one from a chat. */
const STORY = calls(
  ["create_session", { session_id: FIRST, source: "cli", model: "m", system_prompt: "Be brief." }],
  ["append_message", { session_id: FIRST, role: "user", content: "Deploy with docker-compose" }],
  ["append_message", { session_id: FIRST, role: "assistant", tool_calls: [TOOL_CALL], reasoning: "hm" }],
  ["append_message", { session_id: FIRST, role: "tool", content: "done", tool_name: "terminal", tool_call_id: "c1" }],
  ["set_session_title", { session_id: FIRST, title: "Deploy" }],
  ["end_session", { session_id: FIRST, end_reason: "compression" }],
  ["create_session", { session_id: SECOND, source: "cli", model: "m", parent_session_id: FIRST }],
  ["set_session_title", { session_id: SECOND, title: "Deploy #2" }],
  ["append_message", { session_id: SECOND, role: "user", content: PART }],
  ["append_message", { session_id: SECOND, role: "assistant", content: "an animal" }],
  ["create_session", { session_id: CHAT, source: "telegram", user_id: "42" }],
  ["append_message", { session_id: CHAT, role: "user", content: "每天备份数据库" }],
);

interface Hit {
  readonly session_id: string;
}

describe("a home of Hermes Agent v0.14", () => {
  it.skipIf(missing !== undefined)("lists, searches, exports and continues here, and continues there", async () => {
    const home = newHome();
    await reference.run(home, STORY);
    const exported = unwrapResult<unknown[]>((await reference.run(home, calls(["export_all", {}])))[0]);
    expect((await hermes<{ id: string }[]>(home, "sessions", "list", "--json")).map((row) => row.id)).toEqual([
      CHAT,
      SECOND,
    ]);
    for (const [query, id] of [
      ["docker-compose", FIRST],
      ["备份", CHAT],
      ["schöne", SECOND],
    ] as const) {
      expect((await hermes<Hit[]>(home, "sessions", "search", query, "--json")).map((hit) => hit.session_id)).toEqual([
        id,
      ]);
    }
    const lines = (await runHermes(["sessions", "export", "-"], { home })).stdout.trim().split("\n");
    const byId = (rows: unknown[]) => Object.fromEntries((rows as { id: string }[]).map((row) => [row.id, row]));
    expect(byId(lines.map((line) => JSON.parse(line)))).toEqual(byId(exported));
    expect((await runHermes(["sessions", "rename", CHAT, "Sicherung"], { home })).code).toBe(0);
    const turn = await runHermes(["chat", "-Q", "-q", "and the zebra?", "-r", "Deploy"], { home });
    expect(turn.stderr).toContain(`session_id: ${SECOND}`);

    const [conversation, titled, hits, list, appended] = await reference.run(
      home,
      calls(
        ["get_messages_as_conversation", { session_id: SECOND, include_ancestors: true }],
        ["resolve_session_by_title", { title: "Sicherung" }],
        ["search_messages", { query: "zebra" }],
        ["list_sessions_rich", { order_by_last_active: true, limit: 1 }],
        ["append_message", { session_id: SECOND, role: "user", content: "thanks, 新的内容" }],
      ),
    );
    expect(unwrapResult<object[]>(conversation)).toMatchObject([
      { role: "user", content: "Deploy with docker-compose" },
      { role: "assistant", reasoning: "hm", tool_calls: [TOOL_CALL] },
      { role: "tool", tool_name: "terminal" },
      { role: "user", content: PART },
      { role: "assistant", content: "an animal" },
      { role: "user", content: "and the zebra?" },
      { role: "assistant", finish_reason: "stop" },
    ]);
    expect(unwrapResult(titled)).toBe(CHAT);
    expect(unwrapResult<Hit[]>(hits)[0]?.session_id).toBe(SECOND);
    expect(unwrapResult<{ id: string }[]>(list)[0]?.id).toBe(SECOND);
    unwrapResult(appended);
    expect(await hermes<Hit[]>(home, "sessions", "search", "新的内容", "--json")).toHaveLength(1);
  });
});
