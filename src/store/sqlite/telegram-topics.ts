// Telegram topics: opt-in tables that appear only when a chat turns topic mode on.
import { UserError } from "../../core/failure.ts";
import type { SessionSummary } from "../../core/store/session.ts";
import type { TopicMode } from "../../core/store/telegram-topics.ts";
import type { NewTopicBinding, TopicBinding } from "../full-store.ts";
import type { StoreContext } from "./context.ts";
import { readSummary } from "./list.ts";
import { getMeta, setMeta } from "./meta.ts";

const VERSION_KEY = "telegram_dm_topic_schema_version";
const VERSION = "2";

const MODE_TABLE = `CREATE TABLE IF NOT EXISTS telegram_dm_topic_mode (
  chat_id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1,
  activated_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  has_topics_enabled INTEGER,
  allows_users_to_create_topics INTEGER,
  capability_checked_at REAL,
  intro_message_id TEXT,
  pinned_message_id TEXT
)`;

const BINDING_COLUMNS = "chat_id, thread_id, user_id, session_key, session_id, managed_mode, linked_at, updated_at";
const BINDING_TABLE = (name: string): string => `CREATE TABLE IF NOT EXISTS ${name} (
  chat_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  session_key TEXT NOT NULL,
  session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  managed_mode TEXT NOT NULL DEFAULT 'auto',
  linked_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  PRIMARY KEY (chat_id, thread_id)
)`;

const INDEXES = [
  `CREATE UNIQUE INDEX IF NOT EXISTS idx_telegram_dm_topic_bindings_session
   ON telegram_dm_topic_bindings(session_id)`,
  `CREATE INDEX IF NOT EXISTS idx_telegram_dm_topic_bindings_user ON telegram_dm_topic_bindings(user_id, chat_id)`,
];

function exists({ db }: StoreContext, table: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table) !== undefined;
}

/** The first form of the bindings lacked the cascade, so that a bound session could not be deleted. */
function rebuildWithCascade({ db }: StoreContext): void {
  const links = db.prepare<{ on_delete: string }>("PRAGMA foreign_key_list(telegram_dm_topic_bindings)").all();
  if (links.length > 0 && links.every((link) => link.on_delete === "CASCADE")) return;
  db.exec(BINDING_TABLE("telegram_dm_topic_bindings_new"));
  db.exec(
    `INSERT INTO telegram_dm_topic_bindings_new (${BINDING_COLUMNS})
     SELECT ${BINDING_COLUMNS} FROM telegram_dm_topic_bindings`,
  );
  db.exec("DROP TABLE telegram_dm_topic_bindings");
  db.exec("ALTER TABLE telegram_dm_topic_bindings_new RENAME TO telegram_dm_topic_bindings");
}

export function applyTelegramTopicMigration(context: StoreContext): void {
  const { db } = context;
  if (getMeta(context, VERSION_KEY) === VERSION && exists(context, "telegram_dm_topic_bindings")) return;
  db.exec(MODE_TABLE);
  db.exec(BINDING_TABLE("telegram_dm_topic_bindings"));
  rebuildWithCascade(context);
  for (const index of INDEXES) db.exec(index);
  setMeta(context, VERSION_KEY, VERSION);
}

function triState(value: boolean | null | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}

export function enableTelegramTopicMode(context: StoreContext, mode: TopicMode): void {
  applyTelegramTopicMigration(context);
  const time = context.now();
  context.db
    .prepare(
      `INSERT INTO telegram_dm_topic_mode (chat_id, user_id, enabled, activated_at, updated_at,
         has_topics_enabled, allows_users_to_create_topics, capability_checked_at)
       VALUES (?, ?, 1, ?, ?, ?, ?, ?)
       ON CONFLICT(chat_id) DO UPDATE SET user_id = excluded.user_id, enabled = 1, updated_at = excluded.updated_at,
         has_topics_enabled = excluded.has_topics_enabled,
         allows_users_to_create_topics = excluded.allows_users_to_create_topics,
         capability_checked_at = excluded.capability_checked_at`,
    )
    .run(
      mode.chatId,
      mode.userId,
      time,
      time,
      triState(mode.hasTopicsEnabled),
      triState(mode.allowsUsersToCreateTopics),
      time,
    );
}

export function disableTelegramTopicMode(context: StoreContext, chatId: string, clearBindings = true): void {
  const { db, now } = context;
  if (!exists(context, "telegram_dm_topic_mode")) return;
  db.prepare("UPDATE telegram_dm_topic_mode SET enabled = 0, updated_at = ? WHERE chat_id = ?").run(now(), chatId);
  if (clearBindings && exists(context, "telegram_dm_topic_bindings")) {
    db.prepare("DELETE FROM telegram_dm_topic_bindings WHERE chat_id = ?").run(chatId);
  }
}

export function usesTelegramTopics(context: StoreContext): boolean {
  return exists(context, "telegram_dm_topic_mode");
}

export function isTelegramTopicModeEnabled(context: StoreContext, chatId: string, userId: string): boolean {
  if (!exists(context, "telegram_dm_topic_mode")) return false;
  const row = context.db
    .prepare<{ enabled: number }>("SELECT enabled FROM telegram_dm_topic_mode WHERE chat_id = ? AND user_id = ?")
    .get(chatId, userId);
  return row?.enabled === 1;
}

export function getTelegramTopicBinding(context: StoreContext, chatId: string, threadId: string): TopicBinding | null {
  if (!exists(context, "telegram_dm_topic_bindings")) return null;
  const row = context.db
    .prepare<TopicBinding>(
      `SELECT ${BINDING_COLUMNS} FROM telegram_dm_topic_bindings WHERE chat_id = ? AND thread_id = ?`,
    )
    .get(chatId, threadId);
  return row ?? null;
}

/** Binding the same pair again is an update; a session that is bound elsewhere is refused. */
export function bindTelegramTopic(context: StoreContext, binding: NewTopicBinding): void {
  applyTelegramTopicMigration(context);
  const { db, now } = context;
  const { chatId, threadId, sessionId } = binding;
  const other = db
    .prepare("SELECT 1 FROM telegram_dm_topic_bindings WHERE session_id = ? AND NOT (chat_id = ? AND thread_id = ?)")
    .get(sessionId, chatId, threadId);
  if (other) {
    throw new UserError(`Session ${sessionId} is already linked to another Telegram topic`, {
      hint: "Continue it in that topic, or choose another session.",
    });
  }
  const time = now();
  db.prepare(
    `INSERT INTO telegram_dm_topic_bindings (${BINDING_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(chat_id, thread_id) DO UPDATE SET user_id = excluded.user_id, session_key = excluded.session_key,
       session_id = excluded.session_id, managed_mode = excluded.managed_mode, updated_at = excluded.updated_at`,
  ).run(chatId, threadId, binding.userId, binding.sessionKey, sessionId, binding.managedMode ?? "auto", time, time);
}

export function isTelegramSessionLinkedToTopic(context: StoreContext, sessionId: string): boolean {
  if (!exists(context, "telegram_dm_topic_bindings")) return false;
  return (
    context.db.prepare("SELECT 1 FROM telegram_dm_topic_bindings WHERE session_id = ?").get(sessionId) !== undefined
  );
}

/** Telegram sessions of a user that no topic holds, newest activity first. */
export function listUnlinkedTelegramSessionsForUser(
  context: StoreContext,
  userId: string,
  limit = 10,
): SessionSummary[] {
  const unbound = exists(context, "telegram_dm_topic_bindings")
    ? "AND NOT EXISTS (SELECT 1 FROM telegram_dm_topic_bindings b WHERE b.session_id = s.id)"
    : "";
  return context.db
    .prepare<{ id: string }>(
      `SELECT s.id AS id,
         COALESCE((SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = s.id), s.started_at) AS activity
       FROM sessions s WHERE s.source = 'telegram' AND s.user_id = ? ${unbound}
       ORDER BY activity DESC, s.started_at DESC, s.id DESC LIMIT ?`,
    )
    .all(userId, limit)
    .map(({ id }) => readSummary(context, id))
    .filter((row) => row !== null);
}
