// Search of any store host: syntaxes, filters, CJK, context, tool fields.
import { describe, expect, it } from "vitest";
import type { SearchOptions } from "../../src/core/store/session.ts";
import type { FullStore } from "../../src/store/full-store.ts";
import type { Suite } from "../kit/store-fixture.ts";

async function fill(store: FullStore, rows: readonly (readonly [session: string, text: string])[]): Promise<void> {
  for (const [id, content] of rows) {
    await store.createSession({ id, source: id });
    await store.appendMessage(id, { role: "user", content });
  }
}

async function found(store: FullStore, query: string, options?: SearchOptions): Promise<string[]> {
  return (await store.searchMessages(query, options)).hits.map((hit) => hit.session_id).sort();
}

export const searchSuite: Suite = (fixture) => {
  describe("search", () => {
    it("finds words, with snippet and session", async () => {
      const { store } = fixture();
      await fill(store, [
        ["cli", "deploy with docker"],
        ["tui", "docker again"],
        ["acp", "nothing"],
      ]);
      const { hits } = await store.searchMessages("docker");
      expect(hits.map((hit) => hit.source).sort()).toEqual(["cli", "tui"]);
      expect(hits[0]).toMatchObject({ role: "user", model: null, tool_name: null });
      expect(hits[0]?.snippet).toContain(">>>docker<<<");
      expect(hits[0]).not.toHaveProperty("content");
      for (const blank of ["", "  ", "***", '""']) expect(await found(store, blank)).toEqual([]);
    });
    it("filters by source, exclusion, role and session", async () => {
      const { store } = fixture();
      const sources = ["cli", "telegram", "discord", "slack", "whatsapp", "acp"];
      await fill(
        store,
        sources.map((source) => [source, "shared word"] as const),
      );
      await store.appendMessage("cli", { role: "assistant", content: "shared answer" });
      expect(await found(store, "shared", { roleFilter: ["user"] })).toEqual([...sources].sort());
      expect(await found(store, "shared", { sourceFilter: ["acp"] })).toEqual(["acp"]);
      expect(await found(store, "shared", { sourceFilter: [] })).toEqual([]);
      expect(await found(store, "word", { excludeSources: [] })).toHaveLength(6);
      expect(await found(store, "word", { excludeSources: ["cli", "acp"] })).toHaveLength(4);
      expect(await found(store, "word", { sourceFilter: ["cli", "acp"], excludeSources: ["cli"] })).toEqual(["acp"]);
      expect(await found(store, "shared", { roleFilter: ["assistant"] })).toEqual(["cli"]);
      expect(await found(store, "shared", { roleFilter: [] })).toHaveLength(7);
      expect(await found(store, "word", { sessionIds: ["slack"] })).toEqual(["slack"]);
      expect(await found(store, "word", { limit: 2 })).toHaveLength(2);
    });
    it("shows the neighbours within the session", async () => {
      const { store } = fixture();
      await fill(store, [
        ["a", "before a"],
        ["b", "before b"],
      ]);
      await store.appendMessage("a", { role: "user", content: "needle" });
      await store.appendMessage("b", { role: "user", content: "other" });
      await store.appendMessage("a", { role: "assistant", content: "x".repeat(300) });
      const { hits } = await store.searchMessages("needle");
      expect(hits[0]?.context.map((item) => item.content)).toEqual(["before a", "needle", "x".repeat(200)]);
    });
    it.each(['"', "C++", "foo(", "a:b", "NEAR(", "AND", "{x}", "^y", "a OR OR b", "'", "%", "\\", "*a", "-"])(
      "takes %j as it is",
      async (query) => {
        const { store } = fixture();
        await fill(store, [["a", "some text"]]);
        expect(Array.isArray((await store.searchMessages(query)).hits)).toBe(true);
      },
    );
    it.each([
      ["chat-send", "the chat-send command"],
      ["my-app.config.ts", "edit my-app.config.ts now"],
      ["sp_new1", "table sp_new1 grew"],
      ['"exact phrase"', "this exact phrase here"],
      ["deploy*", "deployment done"],
      ["python NOT java", "python rules"],
      ["docker OR kubernetes", "kubernetes only"],
      ["hello AND", "hello there"],
      ["what's up?", "hey what's up"],
      ["foo/bar", "path foo/bar here"],
      ["foo:bar", "key foo:bar"],
      ["hello,", "say hello there"],
      ["é-ü", "word é-ü word"],
    ])("finds %j", async (query, text) => {
      const { store } = fixture();
      await fill(store, [
        ["yes", text],
        ["no", "java phrase exact chat unrelated"],
      ]);
      expect(await found(store, query)).toEqual(["yes"]);
    });
    it.each([
      ["数据库备份", "请做数据库备份吧"],
      ["备份", "今天的备份完成"],
      ["한국어", "나는 한국어를 배운다"],
      ["こんにちは", "みなさん、こんにちは。"],
      ["docker 部署", "用 docker 来部署"],
      ["备份 OR 还原", "请还原文件"],
      ["数据库 OR 服务器", "新的服务器上线"],
    ])("finds %j in CJK text", async (query, text) => {
      const { store } = fixture();
      await fill(store, [
        ["yes", text],
        ["no", "无关的内容"],
      ]);
      const { hits } = await store.searchMessages(query);
      expect(hits.map((hit) => hit.session_id)).toEqual(["yes"]);
      expect(await found(store, query, { excludeSources: ["yes"] })).toEqual([]);
      expect(await found(store, query, { sourceFilter: ["no"] })).toEqual([]);
      expect(await found(store, query, { roleFilter: ["tool"] })).toEqual([]);
    });
    it("takes % literally beside CJK, and finds both of two sessions once", async () => {
      const { store } = fixture();
      await fill(store, [
        ["a", "进度 100% 完成"],
        ["b", "进度 完成"],
      ]);
      expect(await found(store, "进度")).toEqual(["a", "b"]);
      expect(await found(store, "没有")).toEqual([]);
      const snippet = (await store.searchMessages("100%")).hits[0]?.snippet;
      expect(snippet).toContain("100");
    });
    it("indexes tool names, call arguments and function names, and forgets and renews them", async () => {
      const { store, sql } = fixture();
      await fill(store, [["s", "start"]]);
      const id = await store.appendMessage("s", {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "1", type: "function", function: { name: "launch_rocket", arguments: '{"pad":"kourou"}' } }],
      });
      await store.appendMessage("s", { role: "tool", content: "ok", tool_name: "weather_probe" });
      for (const query of ["launch_rocket", "kourou", "weather_probe"])
        expect(await found(store, query)).toEqual(["s"]);
      sql("UPDATE messages SET content = 'renewed words' WHERE id = ?", id);
      expect(await found(store, "renewed")).toEqual(["s"]);
      await store.clearMessages("s");
      for (const query of ["launch_rocket", "renewed"]) expect(await found(store, query)).toEqual([]);
    });
    it("finds text in structured content", async () => {
      const { store } = fixture();
      await store.createSession({ id: "s", source: "cli" });
      await store.appendMessage("s", {
        role: "user",
        content: [{ type: "text", text: "multimodal giraffe 长颈鹿 鹿角" }],
      });
      for (const query of ["giraffe", "长颈鹿", "鹿角"]) expect(await found(store, query)).toEqual(["s"]);
    });
    it("finds a session by name or id", async () => {
      const { store } = fixture();
      await store.createSession({ id: "20260101_000000_abcdef", source: "cli" });
      await store.setSessionTitle("20260101_000000_abcdef", "My work");
      expect(await store.resolveSessionId("20260101_000000_abcdef")).toBe("20260101_000000_abcdef");
      expect(await store.resolveSessionByTitle("My work")).toBe("20260101_000000_abcdef");
    });
  });

  describe("health of the search index", () => {
    it("notices a missing trigger on opening, and indexes what was missed", async () => {
      const b = fixture();
      await fill(b.store, [["s", "before"]]);
      b.sql("DROP TRIGGER messages_fts_insert");
      await b.store.appendMessage("s", { role: "user", content: "unseen giraffe" });
      const store = await b.reopen();
      expect(await found(store, "giraffe")).toEqual(["s"]);
      expect((await store.health()).state).toBe("ok");
    });
    it("appends although the index is gone, and answers without it", async () => {
      const b = fixture();
      await fill(b.store, [["s", "before"]]);
      b.sql("DROP TABLE messages_fts");
      await b.store.appendMessage("s", { role: "user", content: "brave giraffe" });
      expect(await found(b.store, "giraffe")).toEqual(["s"]);
      const report = await b.store.repair();
      expect(report.integrity).toBe("ok");
      expect((await b.store.health()).state).toBe("ok");
      expect((await b.store.searchMessages("giraffe")).notice).toBeUndefined();
    });
    it("changes the layout and back, finding the same", async () => {
      const { store } = fixture();
      await fill(store, [
        ["a", "alpha 备份数据"],
        ["b", "beta"],
      ]);
      for (const layout of ["compact", "inline"] as const) {
        const steps: number[] = [];
        await store.setIndexLayout(layout, (done) => steps.push(done));
        expect(steps.length).toBeGreaterThan(0);
        expect((await store.stats()).indexLayout).toBe(layout);
        expect(await found(store, "alpha")).toEqual(["a"]);
        expect(await found(store, "备份数据")).toEqual(["a"]);
        await store.appendMessage("b", { role: "user", content: `${layout} word` });
        expect(await found(store, layout)).toEqual(["b"]);
      }
    });
  });
};
