// response_store.db: responses that API clients may refer to. Bounded; conversations can be read without it.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { JsonObject, Message } from "../core/message.ts";
import type { ResponseStore, StoredResponse, StoredThread } from "../core/store/response-store.ts";
import { type Database, immediate, openDatabase } from "./sqlite/connection/driver.ts";

const MAX_RESPONSES = 100;
const MAX_THREADS = 1000;
const WAIT_MS = 2000;

const SCHEMA = [
  "CREATE TABLE IF NOT EXISTS responses (response_id TEXT PRIMARY KEY, data TEXT NOT NULL, accessed_at REAL NOT NULL)",
  "CREATE TABLE IF NOT EXISTS conversations (name TEXT PRIMARY KEY, response_id TEXT NOT NULL)",
  `CREATE TABLE IF NOT EXISTS chat_threads (
    fingerprint TEXT PRIMARY KEY, session_id TEXT NOT NULL, message_count INTEGER NOT NULL, at REAL NOT NULL)`,
];

/** The names inside `data` are part of the file's format. */
interface Data {
  readonly response: JsonObject;
  readonly conversation_history?: readonly Message[] | undefined;
  readonly instructions?: string | null | undefined;
  readonly session_id?: string | undefined;
  readonly message_count?: number | undefined;
}

function decode(id: string, text: string): StoredResponse | null {
  let data: Data;
  try {
    data = JSON.parse(text) as Data;
  } catch {
    // An incomplete row of another program is treated as absent.
    return null;
  }
  return {
    id,
    response: data.response,
    history: data.conversation_history ?? [],
    instructions: data.instructions ?? null,
    sessionId: data.session_id ?? "",
    messageCount: data.message_count ?? -1,
  };
}

function encode(stored: StoredResponse): string {
  const data: Data = {
    response: stored.response,
    conversation_history: stored.history,
    instructions: stored.instructions,
    session_id: stored.sessionId,
    message_count: stored.messageCount,
  };
  return JSON.stringify(data);
}

function trim(db: Database): void {
  db.prepare(
    `DELETE FROM responses WHERE response_id NOT IN
      (SELECT response_id FROM responses ORDER BY accessed_at DESC, rowid DESC LIMIT ?)`,
  ).run(MAX_RESPONSES);
  db.prepare("DELETE FROM conversations WHERE response_id NOT IN (SELECT response_id FROM responses)").run();
}

/** The folder is made when it is missing. */
export function openResponseStore(path: string, now: () => number = () => Date.now() / 1000): ResponseStore {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const db = openDatabase(path, { busyTimeoutMs: WAIT_MS });
  db.pragma("journal_mode = WAL");
  for (const sql of SCHEMA) db.exec(sql);
  return {
    get: (id) => {
      const row = db.prepare<{ data: string }>("SELECT data FROM responses WHERE response_id = ?").get(id);
      if (!row) return null;
      db.prepare("UPDATE responses SET accessed_at = ? WHERE response_id = ?").run(now(), id);
      return decode(id, row.data);
    },
    put: (stored, conversation) =>
      immediate(db, () => {
        db.prepare("INSERT OR REPLACE INTO responses(response_id, data, accessed_at) VALUES (?, ?, ?)").run(
          stored.id,
          encode(stored),
          now(),
        );
        if (conversation !== undefined)
          db.prepare("INSERT OR REPLACE INTO conversations(name, response_id) VALUES (?, ?)").run(
            conversation,
            stored.id,
          );
        trim(db);
      }),
    delete: (id) =>
      immediate(db, () => {
        db.prepare("DELETE FROM conversations WHERE response_id = ?").run(id);
        return db.prepare("DELETE FROM responses WHERE response_id = ?").run(id).changes > 0;
      }),
    findNewest: (name) =>
      db.prepare<{ response_id: string }>("SELECT response_id FROM conversations WHERE name = ?").get(name)
        ?.response_id ?? null,
    thread: (fingerprint): StoredThread | null => {
      const row = db
        .prepare<{ session_id: string; message_count: number }>(
          "SELECT session_id, message_count FROM chat_threads WHERE fingerprint = ?",
        )
        .get(fingerprint);
      return row ? { sessionId: row.session_id, messageCount: row.message_count } : null;
    },
    putThread: (fingerprint, thread) =>
      immediate(db, () => {
        db.prepare(
          "INSERT OR REPLACE INTO chat_threads(fingerprint, session_id, message_count, at) VALUES (?, ?, ?, ?)",
        ).run(fingerprint, thread.sessionId, thread.messageCount, now());
        db.prepare(
          `DELETE FROM chat_threads WHERE fingerprint NOT IN
            (SELECT fingerprint FROM chat_threads ORDER BY at DESC, rowid DESC LIMIT ?)`,
        ).run(MAX_THREADS);
      }),
    close: () => db.close(),
  };
}
