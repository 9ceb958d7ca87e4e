// Telegram topics of any store host: opt-in tables, modes, bindings.
import { describe, expect, it } from "vitest";
import type { StoreFixture, Suite } from "../kit/store-fixture.ts";

const topicTables = ({ rows }: StoreFixture) =>
  rows<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'telegram%' ORDER BY name",
  ).map((row) => row.name);

const binding = (sessionId: string, threadId = "1") => ({
  chatId: "c",
  threadId,
  userId: "u",
  sessionKey: "k",
  sessionId,
});

export const topicSuite: Suite = (fixture) => {
  describe("telegram topics", () => {
    it("have no tables until asked for, and questions do not create them", async () => {
      const b = fixture();
      expect(await b.store.isTelegramTopicModeEnabled("c", "u")).toBe(false);
      expect(await b.store.getTelegramTopicBinding("c", "1")).toBeNull();
      expect(await b.store.isTelegramSessionLinkedToTopic("s")).toBe(false);
      await b.store.disableTelegramTopicMode("c");
      expect(topicTables(b)).toEqual([]);
      await b.store.applyTelegramTopicMigration();
      expect(topicTables(b)).toEqual(["telegram_dm_topic_bindings", "telegram_dm_topic_mode"]);
      expect(await b.store.getMeta("telegram_dm_topic_schema_version")).toBe("2");
      await b.store.applyTelegramTopicMigration();
    });
    it("turn on and off, keeping the day they were first turned on", async () => {
      const { store, rows } = fixture();
      await store.enableTelegramTopicMode({ chatId: "c", userId: "u", hasTopicsEnabled: true });
      const [first] = rows<{ activated_at: number }>("SELECT * FROM telegram_dm_topic_mode");
      expect(first).toMatchObject({ enabled: 1, has_topics_enabled: 1, allows_users_to_create_topics: null });
      expect(await store.isTelegramTopicModeEnabled("c", "u")).toBe(true);
      expect(await store.isTelegramTopicModeEnabled("c", "other")).toBe(false);
      await store.createSession({ id: "s", source: "telegram" });
      await store.bindTelegramTopic(binding("s"));
      await store.disableTelegramTopicMode("c");
      await store.disableTelegramTopicMode("c");
      expect(await store.isTelegramTopicModeEnabled("c", "u")).toBe(false);
      expect(await store.getTelegramTopicBinding("c", "1")).toBeNull();
      await store.enableTelegramTopicMode({ chatId: "c", userId: "u", allowsUsersToCreateTopics: false });
      expect(rows("SELECT * FROM telegram_dm_topic_mode")[0]).toMatchObject({
        enabled: 1,
        activated_at: first?.activated_at,
        allows_users_to_create_topics: 0,
      });
    });
    it("bind one session to one topic", async () => {
      const { store } = fixture();
      for (const id of ["s", "t"]) await store.createSession({ id, source: "telegram", userId: "u" });
      await store.bindTelegramTopic(binding("s"));
      const first = await store.getTelegramTopicBinding("c", "1");
      expect(first).toMatchObject({ session_id: "s", session_key: "k", managed_mode: "auto", user_id: "u" });
      expect(await store.isTelegramSessionLinkedToTopic("s")).toBe(true);
      await expect(store.bindTelegramTopic(binding("s", "2"))).rejects.toThrow(
        /already linked to another Telegram topic/,
      );
      await store.bindTelegramTopic({ ...binding("t"), managedMode: "manual" });
      const second = await store.getTelegramTopicBinding("c", "1");
      expect(second).toMatchObject({ session_id: "t", managed_mode: "manual", linked_at: first?.linked_at });
    });
    it("list the sessions without a topic, with or without tables", async () => {
      const { store } = fixture();
      for (const id of ["a", "b", "c"]) await store.createSession({ id, source: "telegram", userId: "u" });
      await store.createSession({ id: "d", source: "telegram", userId: "else" });
      await store.createSession({ id: "e", source: "cli", userId: "u" });
      await store.appendMessage("a", { role: "user", content: "latest" });
      const list = async () => (await store.listUnlinkedTelegramSessionsForUser("c", "u")).map((row) => row.id);
      expect(await list()).toEqual(["a", "c", "b"]);
      await store.bindTelegramTopic(binding("c"));
      expect(await list()).toEqual(["a", "b"]);
      expect((await store.listUnlinkedTelegramSessionsForUser("c", "u", 1))[0]).toMatchObject({ preview: "latest" });
    });
    it("lose their binding with their session", async () => {
      const { store } = fixture();
      await store.createSession({ id: "s", source: "telegram" });
      await store.bindTelegramTopic(binding("s"));
      expect(await store.deleteSession("s")).toBe(true);
      expect(await store.getTelegramTopicBinding("c", "1")).toBeNull();
    });
    it("gain the cascade when they come from the first version", async () => {
      const { store, sql, rows } = fixture();
      await store.createSession({ id: "s", source: "telegram" });
      sql(`CREATE TABLE telegram_dm_topic_bindings (chat_id TEXT NOT NULL, thread_id TEXT NOT NULL,
        user_id TEXT NOT NULL, session_key TEXT NOT NULL, session_id TEXT NOT NULL REFERENCES sessions(id),
        managed_mode TEXT NOT NULL DEFAULT 'auto', linked_at REAL NOT NULL, updated_at REAL NOT NULL,
        PRIMARY KEY (chat_id, thread_id))`);
      sql("INSERT INTO telegram_dm_topic_bindings VALUES ('c', '1', 'u', 'k', 's', 'auto', 1, 1)");
      sql("INSERT INTO state_meta VALUES ('telegram_dm_topic_schema_version', '1')");
      await store.applyTelegramTopicMigration();
      expect(rows("PRAGMA foreign_key_list(telegram_dm_topic_bindings)")[0]).toMatchObject({ on_delete: "CASCADE" });
      expect(await store.getTelegramTopicBinding("c", "1")).toMatchObject({ session_id: "s" });
      expect(rows("SELECT name FROM sqlite_master WHERE type = 'index' AND name LIKE 'idx_telegram%'")).toHaveLength(2);
    });
  });
};
