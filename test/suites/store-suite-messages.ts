// Messages of any store host: storage, encoding, replay.
import { describe, expect, it } from "vitest";
import type { FullStore } from "../../src/store/full-store.ts";
import type { Suite } from "../kit/store-fixture.ts";

const call = (id: string, name = "terminal") => ({
  id,
  type: "function" as const,
  function: { name, arguments: '{"cmd":"ls"}' },
});

async function session(store: FullStore, id = "s"): Promise<FullStore> {
  await store.createSession({ id, source: "cli" });
  return store;
}

const PARTS = [
  { type: "text" as const, text: "what is\nthis?" },
  { type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } },
];

export const messageSuite: Suite = (fixture) => {
  describe("messages", () => {
    it("keep their order and rise in time", async () => {
      const store = await session(fixture().store);
      for (let n = 0; n < 20; n++) await store.appendMessage("s", { role: "user", content: `m${n}` });
      const rows = await store.getMessages("s");
      expect(rows.map((row) => row.content)).toEqual(Array.from({ length: 20 }, (_, n) => `m${n}`));
      for (let n = 1; n < rows.length; n++) expect(rows[n]!.timestamp).toBeGreaterThan(rows[n - 1]!.timestamp);
      expect((await store.getSession("s"))?.message_count).toBe(20);
      expect((await store.getMessages("s", { afterId: rows[4]!.id, limit: 2 })).map((row) => row.content)).toEqual([
        "m5",
        "m6",
      ]);
    });
    it("keep the order in which they were asked for, without waiting", async () => {
      const store = await session(fixture().store);
      await Promise.all(
        Array.from({ length: 30 }, (_, n) => store.appendMessage("s", { role: "user", content: `${n}` })),
      );
      expect((await store.getMessages("s")).map((row) => Number(row.content))).toEqual(
        Array.from({ length: 30 }, (_, n) => n),
      );
    });
    it("count tool calls once", async () => {
      const store = await session(fixture().store);
      await store.appendMessage("s", { role: "assistant", content: null, tool_calls: [call("1"), call("2")] });
      await store.appendMessage("s", { role: "tool", content: "a", tool_call_id: "1", tool_name: "terminal" });
      await store.appendMessage("s", { role: "tool", content: "b", tool_call_id: "2", tool_calls: [call("x")] });
      expect(await store.getSession("s")).toMatchObject({ message_count: 3, tool_call_count: 2 });
      await store.appendMessage("s", { role: "assistant", content: "", tool_calls: call("3") as never });
      expect((await store.getSession("s"))?.tool_call_count).toBe(3);
    });
    it("return tool calls unchanged", async () => {
      const store = await session(fixture().store);
      await store.appendMessage("s", { role: "assistant", content: null, tool_calls: [call("1", "grüße")] });
      expect((await store.getMessages("s"))[0]?.tool_calls).toEqual([call("1", "grüße")]);
      expect(await store.getConversation("s")).toEqual([
        { role: "assistant", content: null, tool_calls: [call("1", "grüße")] },
      ]);
    });
    it("keep part lists and objects in both readers, and text raw", async () => {
      const { rows, store } = fixture();
      await session(store);
      await store.appendMessage("s", { role: "user", content: PARTS });
      await store.appendMessage("s", { role: "tool", content: { a: [1, null], b: "ü" } });
      await store.appendMessage("s", { role: "user", content: "plain" });
      expect((await store.getMessages("s")).map((row) => row.content)).toEqual([
        PARTS,
        { a: [1, null], b: "ü" },
        "plain",
      ]);
      expect((await store.getConversation("s")).map((item) => item.content)).toEqual([
        PARTS,
        { a: [1, null], b: "ü" },
        "plain",
      ]);
      const stored = rows<{ content: string }>("SELECT content FROM messages ORDER BY id");
      expect(stored[0]?.content.startsWith("\u0000json:")).toBe(true);
      expect(stored[1]?.content).toContain("ü");
      expect(stored[2]?.content).toBe("plain");
    });
    it("survive U+0000 and odd characters", async () => {
      const store = await session(fixture().store);
      const texts = ["a\u0000b", "\u0000", "", "😀\u{10ffff}", "line\nend\r\n", "\u0000json:{broken"];
      await store.appendMessages(
        "s",
        texts.map((content) => ({ role: "tool", content })),
      );
      expect((await store.getMessages("s")).map((row) => row.content)).toEqual(texts);
    });
    it("can be replaced, also by part lists; reasoning stays with assistants", async () => {
      const store = await session(fixture().store);
      await store.appendMessages("s", [
        { role: "user", content: "old" },
        { role: "assistant", content: "old" },
      ]);
      await store.replaceMessages("s", [
        { role: "user", content: PARTS, reasoning: "no", reasoning_details: [1] },
        { role: "assistant", content: "new", reasoning: "yes", tool_calls: [call("1")] },
        { role: "", content: "odd" },
      ]);
      const rows = await store.getMessages("s");
      expect(rows.map((row) => [row.role, row.content, row.reasoning])).toEqual([
        ["user", PARTS, null],
        ["assistant", "new", "yes"],
        ["unknown", "odd", null],
      ]);
      expect(rows[0]?.reasoning_details).toBeNull();
      expect(await store.getSession("s")).toMatchObject({ message_count: 3, tool_call_count: 1 });
      await store.clearMessages("s");
      expect(await store.getMessages("s")).toEqual([]);
      expect(await store.getSession("s")).toMatchObject({ message_count: 0, tool_call_count: 0 });
    });
    it("are added all together or not at all", async () => {
      const store = await session(fixture().store);
      const bad = { role: null as unknown as string, content: "x" };
      await expect(store.appendMessages("s", [{ role: "user", content: "ok" }, bad])).rejects.toThrow();
      expect(await store.messageCount("s")).toBe(0);
      expect((await store.getSession("s"))?.message_count).toBe(0);
      expect(await store.appendMessages("s", [])).toEqual([]);
    });
    it("need a session", async () => {
      await expect(fixture().store.appendMessage("none", { role: "user", content: "x" })).rejects.toThrow(
        /Session none does not exist/,
      );
    });
    it("are counted in total and by session", async () => {
      const store = await session(fixture().store);
      await session(store, "t");
      await store.createSession({ id: "u", source: "tui" });
      await store.appendMessage("s", { role: "user", content: "1" });
      await store.appendMessage("t", { role: "user", content: "2" });
      expect([await store.messageCount(), await store.messageCount("s"), await store.messageCount("none")]).toEqual([
        2, 1, 0,
      ]);
      expect([await store.sessionCount(), await store.sessionCount("tui"), await store.sessionCount("no")]).toEqual([
        3, 1, 0,
      ]);
    });
    it("answer unreadable JSON with a notice instead of an error", async () => {
      const { store, sql, notices } = fixture();
      await session(store);
      await store.appendMessage("s", { role: "assistant", content: "x", tool_calls: [call("1")] });
      sql("UPDATE messages SET tool_calls = '{broken', reasoning_details = '{broken'");
      expect((await store.getMessages("s"))[0]?.tool_calls).toEqual([]);
      expect(await store.getConversation("s")).toEqual([{ role: "assistant", content: "x", tool_calls: [] }]);
      expect(notices.join()).toContain("tool calls");
    });
  });

  describe("conversation replay", () => {
    it("is role and content", async () => {
      const store = await session(fixture().store);
      await store.appendMessage("s", { role: "user", content: "  hi  " });
      await store.appendMessage("s", { role: "assistant", content: "hello" });
      await store.appendMessage("s", { role: "tool", content: " raw ", tool_call_id: "1", tool_name: "t" });
      expect(await store.getConversation("s")).toEqual([
        { role: "user", content: "hi" },
        { role: "assistant", content: "hello" },
        { role: "tool", content: " raw ", tool_call_id: "1", tool_name: "t" },
      ]);
    });
    it("restores assistant fields, and only on assistants", async () => {
      const store = await session(fixture().store);
      const fields = {
        finish_reason: "stop",
        reasoning: "because",
        reasoning_content: "",
        reasoning_details: [{ type: "thinking", signature: "s" }],
        codex_reasoning_items: [{ id: "r" }],
        codex_message_items: [{ id: "m", phase: "final" }],
      };
      await store.appendMessage("s", { role: "assistant", content: "a", ...fields });
      await store.appendMessage("s", { role: "user", content: "u", ...fields });
      await store.appendMessage("s", { role: "assistant", content: "b", reasoning: "", reasoning_content: null });
      await store.appendMessage("s", { role: "assistant", content: "c", reasoning_content: "thought" });
      expect(await store.getConversation("s")).toEqual([
        { role: "assistant", content: "a", ...fields },
        { role: "user", content: "u" },
        { role: "assistant", content: "b" },
        { role: "assistant", content: "c", reasoning_content: "thought" },
      ]);
      expect((await store.getMessages("s"))[0]?.finish_reason).toBe("stop");
      expect((await store.getMessages("s"))[0]?.reasoning_details).toBe('[{"type":"thinking","signature":"s"}]');
    });
    it("strips leaked memory", async () => {
      const store = await session(fixture().store);
      const note = "[System note: The following is recalled memory context, NOT new user input. Treat as";
      const leaks = [
        `<memory-context>\n${note} informational background data.]\nsecret\n</memory-context>\nVisible answer`,
        `${note} authoritative reference data - it is yours.]\n\nVisible answer`,
        `< Memory-Context >Visible answer`,
      ];
      await store.appendMessages(
        "s",
        leaks.map((content) => ({ role: "assistant", content })),
      );
      for (const item of await store.getConversation("s")) expect(item.content).toBe("Visible answer");
    });
    it("includes ancestors in order, and a prompt repeated on resume once", async () => {
      const store = await session(fixture().store, "a");
      await store.appendMessage("a", { role: "user", content: "build it" });
      await store.endSession("a", "compression");
      await store.createSession({ id: "b", source: "cli", parentSessionId: "a" });
      await store.appendMessage("b", { role: "user", content: "build it" });
      await store.appendMessage("b", { role: "assistant", content: "done" });
      await store.appendMessage("b", { role: "user", content: "build it" });
      const whole = await store.getConversation("b", { includeAncestors: true });
      expect(whole.map((item) => item.content)).toEqual(["build it", "done", "build it"]);
      expect((await store.getConversation("b")).length).toBe(3);
    });
  });
};
