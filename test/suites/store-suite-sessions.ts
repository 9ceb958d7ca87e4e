// Sessions of any store host: lifecycle, counters, ids, lineage, titles.
import { describe, expect, it } from "vitest";
import { backdate, DAY, nowSeconds, type Suite } from "../kit/store-fixture.ts";

export const sessionSuite: Suite = (fixture) => {
  describe("session lifecycle", () => {
    it("reads back what was created", async () => {
      const { store } = fixture();
      await store.createSession({
        id: "s",
        source: "cli",
        model: "m",
        modelConfig: { temperature: 0.2, name: "grün" },
        systemPrompt: "be kind",
        userId: "u",
      });
      const row = await store.getSession("s");
      expect(row).toMatchObject({ id: "s", source: "cli", model: "m", system_prompt: "be kind", user_id: "u" });
      expect(JSON.parse(row?.model_config ?? "")).toEqual({ temperature: 0.2, name: "grün" });
      expect(row?.model_config).toContain("grün");
      expect(row).toMatchObject({ message_count: 0, api_call_count: 0, ended_at: null, title: null });
      expect(Math.abs((row?.started_at ?? 0) - nowSeconds())).toBeLessThan(60);
    });
    it("gives null for an unknown id", async () => expect(await fixture().store.getSession("no")).toBeNull());
    it("ends with a time and a reason, and keeps the first", async () => {
      const { store } = fixture();
      await store.createSession({ id: "s", source: "cli" });
      await store.endSession("s", "cli_close");
      const first = await store.getSession("s");
      expect(first?.ended_at).toBeGreaterThan(first?.started_at ?? 0);
      await store.endSession("s", "other");
      expect(await store.getSession("s")).toEqual(first);
      await store.endSession("unknown", "x");
    });
    it("can be reopened and ended again", async () => {
      const { store } = fixture();
      await store.createSession({ id: "s", source: "cli" });
      await store.endSession("s", "a");
      await store.reopenSession("s");
      expect(await store.getSession("s")).toMatchObject({ ended_at: null, end_reason: null });
      await store.endSession("s", "b");
      expect((await store.getSession("s"))?.end_reason).toBe("b");
    });
    it("stores the prompt", async () => {
      const { store } = fixture();
      await store.createSession({ id: "s", source: "cli" });
      await store.updateSystemPrompt("s", "new prompt");
      expect((await store.getSession("s"))?.system_prompt).toBe("new prompt");
    });
    it("keeps the parent link and refuses a parent that does not exist", async () => {
      const { store } = fixture();
      await store.createSession({ id: "p", source: "cli" });
      await store.createSession({ id: "c", source: "cli", parentSessionId: "p" });
      expect((await store.getSession("c"))?.parent_session_id).toBe("p");
      await expect(store.createSession({ id: "x", source: "cli", parentSessionId: "none" })).rejects.toThrow(/parent/);
      expect(await store.getSession("x")).toBeNull();
    });
    it("keeps the first of two creations", async () => {
      const { store } = fixture();
      await store.createSession({ id: "s", source: "cli", model: "first" });
      await store.createSession({ id: "s", source: "tui", model: "second" });
      expect(await store.getSession("s")).toMatchObject({ source: "cli", model: "first" });
    });
    it("ensures a session once, and messages can follow", async () => {
      const { store } = fixture();
      expect(await store.ensureSession({ id: "s" })).toBe("s");
      await store.ensureSession({ id: "s", source: "cli", model: "m" });
      expect(await store.getSession("s")).toMatchObject({ source: "unknown", model: null });
      expect(await store.appendMessage("s", { role: "user", content: "hi" })).toBeGreaterThan(0);
    });
  });

  describe("token counts", () => {
    it("adds deltas and calls", async () => {
      const { store } = fixture();
      await store.createSession({ id: "s", source: "cli" });
      await store.updateTokenCounts("s", { inputTokens: 200, outputTokens: 5, apiCallCount: 1, estimatedCostUsd: 0.5 });
      await store.updateTokenCounts("s", {
        inputTokens: 100,
        apiCallCount: 2,
        actualCostUsd: 0.25,
        cacheReadTokens: 7,
      });
      await store.updateTokenCounts("s", { actualCostUsd: 0.25, reasoningTokens: 3, cacheWriteTokens: 4 });
      expect(await store.getSession("s")).toMatchObject({
        input_tokens: 300,
        output_tokens: 5,
        api_call_count: 3,
        estimated_cost_usd: 0.5,
        actual_cost_usd: 0.5,
        cache_read_tokens: 7,
        cache_write_tokens: 4,
        reasoning_tokens: 3,
      });
    });
    it("sets absolute values", async () => {
      const { store } = fixture();
      await store.updateTokenCounts("s", { inputTokens: 1, apiCallCount: 1, actualCostUsd: 2 });
      await store.updateTokenCounts("s", { inputTokens: 300, apiCallCount: 5, absolute: true });
      expect(await store.getSession("s")).toMatchObject({
        source: "unknown",
        input_tokens: 300,
        api_call_count: 5,
        estimated_cost_usd: 0,
        actual_cost_usd: 2,
      });
    });
    it("fills model and billing once, and replaces cost provenance", async () => {
      const { store } = fixture();
      await store.createSession({ id: "s", source: "cli" });
      await store.updateTokenCounts("s", { model: "a", billingProvider: "x", costStatus: "estimated" });
      await store.updateTokenCounts("s", { model: "b", billingProvider: "y", costStatus: "final" });
      await store.updateTokenCounts("s", {});
      expect(await store.getSession("s")).toMatchObject({ model: "a", billing_provider: "x", cost_status: "final" });
    });
  });

  describe("ids and lineage", () => {
    it("resolves exact ids and unique prefixes, and nothing else", async () => {
      const { store } = fixture();
      for (const id of ["20260101_aa", "20260101_ab", "2026x0101", "abc", "abcd"]) {
        await store.createSession({ id, source: "cli" });
      }
      expect(await store.resolveSessionId("abc")).toBe("abc");
      expect(await store.resolveSessionId("20260101_aa")).toBe("20260101_aa");
      expect(await store.resolveSessionId("20260101_b")).toBeNull();
      expect(await store.resolveSessionId("20260101_")).toBeNull();
      expect(await store.resolveSessionId("2026x")).toBe("2026x0101");
      expect(await store.resolveSessionId("20260_")).toBeNull();
      expect(await store.resolveSessionId("%")).toBeNull();
    });
    it("lists ancestors and descendants, also around a ring", async () => {
      const { store, sql } = fixture();
      await store.createSession({ id: "a", source: "cli" });
      await store.createSession({ id: "b", source: "cli", parentSessionId: "a" });
      await store.createSession({ id: "c", source: "cli", parentSessionId: "b" });
      await store.createSession({ id: "d", source: "cli", parentSessionId: "a" });
      expect(await store.ancestors("c")).toEqual(["a", "b", "c"]);
      expect(await store.descendants("a")).toEqual(["a", "b", "d", "c"]);
      expect(await store.ancestors("none")).toEqual([]);
      expect(await store.descendants("none")).toEqual([]);
      sql("UPDATE sessions SET parent_session_id = 'c' WHERE id = 'a'");
      expect(await store.ancestors("c")).toHaveLength(3);
      expect(await store.descendants("a")).toHaveLength(4);
    });
    it("finds the compression tip from root, middle and tip, past delegates", async () => {
      const { store } = fixture();
      await store.createSession({ id: "root", source: "cli" });
      await store.createSession({ id: "delegate", source: "cli", parentSessionId: "root" });
      await store.endSession("root", "compression");
      await store.createSession({ id: "mid", source: "cli", parentSessionId: "root" });
      await store.endSession("mid", "compression");
      await store.createSession({ id: "tip", source: "cli", parentSessionId: "mid" });
      for (const id of ["root", "mid", "tip"]) expect(await store.getCompressionTip(id)).toBe("tip");
      expect(await store.getCompressionTip("delegate")).toBe("delegate");
      expect(await store.getCompressionTip("unknown")).toBe("unknown");
    });
    it("redirects a resume to the descendant that has messages", async () => {
      const { store, sql } = fixture();
      await store.createSession({ id: "head", source: "cli" });
      await store.createSession({ id: "empty", source: "cli", parentSessionId: "head" });
      await store.createSession({ id: "bulk", source: "cli", parentSessionId: "empty" });
      expect(await store.resolveResumeSessionId("head")).toBe("head");
      await store.appendMessage("bulk", { role: "user", content: "x" });
      expect(await store.resolveResumeSessionId("head")).toBe("bulk");
      expect(await store.resolveResumeSessionId("empty")).toBe("bulk");
      expect(await store.resolveResumeSessionId("bulk")).toBe("bulk");
      expect(await store.resolveResumeSessionId("unknown")).toBe("unknown");
      expect(await store.resolveResumeSessionId("")).toBe("");
      await store.createSession({ id: "fork", source: "cli", parentSessionId: "empty" });
      await store.appendMessage("fork", { role: "user", content: "newer" });
      expect(await store.resolveResumeSessionId("head")).toBe("fork");
      sql("DELETE FROM messages");
      sql("UPDATE sessions SET parent_session_id = 'fork' WHERE id = 'head'");
      expect(await store.resolveResumeSessionId("head")).toBe("head");
    });
    it("splits in one step: old ended, child linked and titled, messages and goal moved", async () => {
      const { store } = fixture();
      await store.createSession({ id: "old", source: "cli", model: "m" });
      await store.setSessionTitle("old", "Work");
      await store.setMeta("goal:old", '{"goal":"ship"}');
      const ids = await store.splitSession({
        fromId: "old",
        session: { id: "new", source: "cli" },
        messages: [
          { role: "user", content: "summary" },
          { role: "assistant", content: "ok" },
        ],
      });
      expect(ids).toHaveLength(2);
      expect(await store.getSession("old")).toMatchObject({ end_reason: "compression", title: "Work" });
      expect(await store.getSession("new")).toMatchObject({
        parent_session_id: "old",
        title: "Work #2",
        message_count: 2,
      });
      expect(await store.getMeta("goal:old")).toBeNull();
      expect(await store.getMeta("goal:new")).toBe('{"goal":"ship"}');
      expect(await store.getCompressionTip("old")).toBe("new");
    });
    it("rolls back a split that fails", async () => {
      const { store } = fixture();
      await store.createSession({ id: "old", source: "cli" });
      await store.createSession({ id: "other", source: "cli" });
      await store.setSessionTitle("other", "Taken");
      const split = { fromId: "old", session: { id: "new", source: "cli" }, messages: [] };
      await expect(store.splitSession({ ...split, title: "Taken" })).rejects.toThrow(/already in use/);
      expect(await store.getSession("new")).toBeNull();
      expect((await store.getSession("old"))?.ended_at).toBeNull();
      await expect(store.splitSession({ ...split, fromId: "none" })).rejects.toThrow(/does not exist/);
    });
  });

  describe("handoff", () => {
    it("is pending, running, completed; refuses a second while one is under way", async () => {
      const { store } = fixture();
      await store.createSession({ id: "s", source: "cli" });
      await store.createSession({ id: "t", source: "cli" });
      expect(await store.getHandoffState("s")).toEqual({ state: null, platform: null, error: null });
      expect(await store.requestHandoff("s", "telegram")).toBe(true);
      expect(await store.requestHandoff("s", "discord")).toBe(false);
      expect(await store.requestHandoff("t", "discord")).toBe(true);
      expect((await store.listPendingHandoffs()).map((row) => row.id)).toEqual(["s", "t"]);
      expect(await Promise.all([store.claimHandoff("s"), store.claimHandoff("s")])).toEqual([true, false]);
      expect(await store.requestHandoff("s", "discord")).toBe(false);
      await store.completeHandoff("s");
      expect(await store.getHandoffState("s")).toEqual({ state: "completed", platform: "telegram", error: null });
    });
    it("records a failure, cut to 500 characters, and lets it be asked again", async () => {
      const { store } = fixture();
      await store.createSession({ id: "s", source: "cli" });
      await store.requestHandoff("s", "telegram");
      await store.failHandoff("s", "😀".repeat(600));
      expect([...((await store.getHandoffState("s"))?.error ?? "")]).toHaveLength(500);
      expect(await store.requestHandoff("s", "slack")).toBe(true);
      expect(await store.getHandoffState("s")).toEqual({ state: "pending", platform: "slack", error: null });
      expect(await store.getHandoffState("none")).toBeNull();
      expect(await store.requestHandoff("none", "x")).toBe(false);
    });
  });

  describe("sweeps", () => {
    it("closes continuations that were left open, and only those", async () => {
      const b = fixture();
      const { store } = b;
      const old = nowSeconds() - 8 * DAY;
      const add = async (id: string, parent?: string) => {
        await store.createSession({ id, source: "cli", ...(parent ? { parentSessionId: parent } : {}) });
        await store.appendMessage(id, { role: "user", content: "x" });
        backdate(b, id, { started: old });
      };
      await add("parent");
      await add("branchy");
      await store.endSession("parent", "compression");
      await store.endSession("branchy", "branched");
      for (const id of ["lost", "titled", "recent", "ended", "silent", "used"]) await add(id, "parent");
      await add("alone");
      await add("elsewhere", "branchy");
      await store.setSessionTitle("titled", "T");
      backdate(b, "recent", { started: nowSeconds() });
      await store.endSession("ended", "done");
      await store.clearMessages("silent");
      await store.updateTokenCounts("used", { apiCallCount: 1 });
      expect(await store.finalizeOrphanedCompressionSessions()).toBe(2);
      for (const id of ["lost", "titled"])
        expect((await store.getSession(id))?.end_reason).toBe("orphaned_compression");
      for (const id of ["recent", "silent", "used", "alone", "elsewhere"]) {
        expect((await store.getSession(id))?.ended_at).toBeNull();
      }
    });
  });
};
