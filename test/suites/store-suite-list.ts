// Lists, search, export and removal of any store host.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ExportedSession } from "../../src/core/store/session.ts";
import type { FullStore } from "../../src/store/full-store.ts";
import { backdate, DAY, nowSeconds, type StoreFixture, type Suite } from "../kit/store-fixture.ts";

async function add(store: FullStore, id: string, options: { source?: string; parent?: string; text?: string } = {}) {
  const { source = "cli", parent, text } = options;
  await store.createSession({ id, source, ...(parent ? { parentSessionId: parent } : {}) });
  if (text !== undefined) await store.appendMessage(id, { role: "user", content: text });
}

const ids = (rows: readonly { id: string }[]) => rows.map((row) => row.id);

async function collect(store: FullStore, source?: string): Promise<ExportedSession[]> {
  const all: ExportedSession[] = [];
  for await (const session of store.exportAll(source)) all.push(session);
  return all;
}

async function oldEnded(b: StoreFixture, id: string, parent?: string): Promise<void> {
  await add(b.store, id, { ...(parent ? { parent } : {}), text: `text of ${id}` });
  await b.store.endSession(id, "done");
  backdate(b, id, { started: nowSeconds() - 100 * DAY });
}

export const listSuite: Suite = (fixture) => {
  describe("session list", () => {
    it("previews the first user message on one line of 60 characters", async () => {
      const { store } = fixture();
      await add(store, "none");
      await add(store, "short", { text: "hello\r\nthere" });
      await store.appendMessage("short", { role: "user", content: "later" });
      await add(store, "long", { text: "😀".repeat(70) });
      await add(store, "sixty", { text: "y".repeat(60) });
      await store.createSession({ id: "parts", source: "cli" });
      await store.appendMessage("parts", {
        role: "user",
        content: [
          { type: "text", text: "look\nat this" },
          { type: "image_url", image_url: { url: "data:," } },
        ],
      });
      const previews = Object.fromEntries((await store.listSessions()).map((row) => [row.id, row.preview]));
      expect(previews).toEqual({
        none: "",
        short: "hello  there",
        long: `${"😀".repeat(60)}...`,
        sixty: "y".repeat(60),
        parts: "look at this [image]",
      });
    });
    it("leaves the prompt out, knows the last activity, and falls back to the start", async () => {
      const { store } = fixture();
      await add(store, "a", { text: "x" });
      await add(store, "b");
      const [b, a] = await store.listSessions();
      expect(a).not.toHaveProperty("system_prompt");
      expect(a!.last_active).toBeGreaterThan(a!.started_at);
      expect(b!.last_active).toBe(b!.started_at);
    });
    it("orders by start, or by activity over the whole chain", async () => {
      const { store } = fixture();
      await add(store, "first", { text: "x" });
      await add(store, "second", { text: "x" });
      await add(store, "third", { text: "x" });
      await store.endSession("first", "compression");
      await add(store, "tip", { parent: "first", text: "fresh" });
      expect(ids(await store.listSessions())).toEqual(["third", "second", "tip"]);
      expect(ids(await store.listSessions({ orderByLastActive: true, limit: 1 }))).toEqual(["tip"]);
      expect(ids(await store.listSessions({ orderByLastActive: true, limit: 1, offset: 1 }))).toEqual(["third"]);
    });
    it("shows branches, hides delegates and continuations", async () => {
      const { store } = fixture();
      await add(store, "root", { text: "x" });
      await add(store, "delegate", { parent: "root" });
      await store.endSession("root", "branched");
      await add(store, "branch", { parent: "root" });
      await add(store, "solo");
      await store.endSession("solo", "compression");
      await add(store, "next", { parent: "solo" });
      expect(ids(await store.listSessions({ projectCompressionTips: false }))).toEqual(["solo", "branch", "root"]);
      expect(ids(await store.listSessions({ includeChildren: true }))).toHaveLength(5);
    });
    it("shows a compressed conversation by its tip, at its root's place", async () => {
      const { store } = fixture();
      await add(store, "root", { text: "the beginning" });
      await store.setSessionTitle("root", "Name");
      await store.endSession("root", "compression");
      await add(store, "tip", { parent: "root", text: "the end" });
      await store.setSessionTitle("tip", "Name #2");
      await add(store, "childless");
      await store.endSession("childless", "compression");
      const [childless, projected] = await store.listSessions();
      expect(projected).toMatchObject({
        id: "tip",
        _lineage_root_id: "root",
        title: "Name #2",
        preview: "the end",
        end_reason: null,
        message_count: 1,
        started_at: (await store.getSession("root"))?.started_at,
      });
      expect(childless).toMatchObject({ id: "childless", end_reason: "compression" });
      expect(childless).not.toHaveProperty("_lineage_root_id");
    });
    it("filters by source, exclusion and user, and pages", async () => {
      const { store } = fixture();
      for (const [id, source] of [
        ["a", "cli"],
        ["b", "tui"],
        ["c", "tool"],
        ["d", "cli"],
      ] as const) {
        await store.createSession({ id, source, userId: id === "d" ? "ann" : "bob" });
      }
      expect(ids(await store.listSessions({ source: "cli" }))).toEqual(["d", "a"]);
      expect(ids(await store.listSessions({ excludeSources: ["tool"] }))).toEqual(["d", "b", "a"]);
      expect(ids(await store.listSessions({ excludeSources: ["tool", "tui"] }))).toEqual(["d", "a"]);
      expect(ids(await store.listSessions({ excludeSources: [] }))).toHaveLength(4);
      expect(ids(await store.listSessions({ source: "cli", excludeSources: ["cli"] }))).toEqual([]);
      expect(ids(await store.listSessions({ userId: "ann" }))).toEqual(["d"]);
      expect(ids(await store.listSessions({ limit: 2, offset: 1 }))).toEqual(["c", "b"]);
    });
    it("finds the latest session of a source by activity, beyond the newest twenty", async () => {
      const { store } = fixture();
      expect(await store.searchSessions({ limit: 1 })).toEqual([]);
      await add(store, "early");
      for (let n = 0; n < 25; n++) await add(store, `later${n}`);
      await add(store, "other", { source: "tui" });
      await store.appendMessage("early", { role: "user", content: "still going" });
      const [first] = await store.searchSessions({ source: "cli", limit: 1 });
      expect(first).toMatchObject({ id: "early", preview: "still going" });
      const pages = [await store.searchSessions({ limit: 20 }), await store.searchSessions({ limit: 20, offset: 20 })];
      expect(new Set(pages.flat().map((row) => row.id)).size).toBe(27);
    });
  });

  describe("export and import", () => {
    it("gives one session, or all, or those of a source", async () => {
      const { store } = fixture();
      await add(store, "a", { text: "x" });
      await add(store, "b", { source: "tui", text: "y" });
      expect((await store.exportSession("a"))?.messages[0]).toMatchObject({ content: "x", role: "user" });
      expect(await store.exportSession("none")).toBeNull();
      expect(ids(await collect(store))).toEqual(["b", "a"]);
      expect((await collect(store, "tui")).map((row) => [row.id, row.last_active === undefined])).toEqual([
        ["b", false],
      ]);
    });
    it("restores the same rows, parents before children", async () => {
      const { store } = fixture();
      await add(store, "root", { text: "one" });
      await store.setSessionTitle("root", "T");
      await store.updateTokenCounts("root", { inputTokens: 5, estimatedCostUsd: 0.5 });
      await store.splitSession({
        fromId: "root",
        session: { id: "tip", source: "cli" },
        messages: [{ role: "user", content: "two" }],
      });
      await store.appendMessage("tip", {
        role: "assistant",
        content: null,
        reasoning_details: [{ a: 1 }],
        tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "{}" } }],
      });
      const before = await collect(store);
      expect(ids(before)).toEqual(["root", "tip"]);
      for (const { id } of before) await store.deleteSession(id);
      for (const session of before) {
        expect(await store.importSession(JSON.parse(JSON.stringify(session)))).toMatchObject({
          imported: 1,
          problems: [],
        });
      }
      expect(await collect(store)).toEqual(before);
    });
    it("skips what exists, drops a taken title, links a parent that follows", async () => {
      const { store } = fixture();
      await add(store, "root", { text: "one" });
      await store.setSessionTitle("root", "T");
      await add(store, "kid", { parent: "root", text: "two" });
      const [root, kid] = await collect(store);
      expect(await store.importSession(root!)).toMatchObject({ imported: 0, skipped: 1 });
      await store.deleteSession("root");
      await store.deleteSession("kid");
      const orphan = await store.importSession(kid!);
      expect(orphan.problems.join()).toContain("parent root");
      expect((await store.getSession("kid"))?.parent_session_id).toBeNull();
      await add(store, "thief");
      await store.setSessionTitle("thief", "T");
      expect((await store.importSession(root!)).problems.join()).toContain('title "T"');
      expect((await store.getSession("root"))?.title).toBeNull();
      expect((await store.getSession("kid"))?.parent_session_id).toBe("root");
      expect(await store.importSession({} as ExportedSession)).toMatchObject({ imported: 0, skipped: 1 });
    });
  });

  describe("removal", () => {
    it("deletes a session with its messages and files, and orphans its children only", async () => {
      const { store, dir } = fixture();
      await add(store, "p", { text: "secret word" });
      await add(store, "c", { parent: "p" });
      await add(store, "g", { parent: "c" });
      const files = ["p.json", "p.jsonl", "request_dump_p_1.json", "c.json", "request_dump_pp_1.json"];
      for (const name of files) writeFileSync(join(dir, name), "{}");
      expect(await store.deleteSession("none", dir)).toBe(false);
      expect(await store.deleteSession("p", dir)).toBe(true);
      expect(await store.getSession("p")).toBeNull();
      expect(await store.messageCount("p")).toBe(0);
      expect((await store.searchMessages("secret")).hits).toEqual([]);
      expect((await store.getSession("c"))?.parent_session_id).toBeNull();
      expect((await store.getSession("g"))?.parent_session_id).toBe("c");
      expect(files.filter((name) => existsSync(join(dir, name)))).toEqual(["c.json", "request_dump_pp_1.json"]);
    });
    it("prunes old ended sessions, never open ones, by source if asked", async () => {
      const b = fixture();
      await oldEnded(b, "old");
      await oldEnded(b, "old2");
      b.sql("UPDATE sessions SET source = 'tui' WHERE id = 'old2'");
      await add(b.store, "live");
      backdate(b, "live", { started: nowSeconds() - 200 * DAY });
      await add(b.store, "young");
      await b.store.endSession("young", "x");
      const steps: [number, number][] = [];
      expect(
        await b.store.pruneSessions({ source: "cli", onProgress: (done, total) => steps.push([done, total]) }),
      ).toBe(1);
      expect(steps).toEqual([[1, 1]]);
      expect(await b.store.pruneSessions()).toBe(1);
      expect(ids(await b.store.listSessions())).toEqual(["young", "live"]);
    });
    it("prunes a chain from its old end", async () => {
      const b = fixture();
      await oldEnded(b, "1");
      await oldEnded(b, "2", "1");
      await add(b.store, "3", { parent: "2" });
      await add(b.store, "4", { parent: "3" });
      expect(await b.store.pruneSessions()).toBe(2);
      expect((await b.store.getSession("3"))?.parent_session_id).toBeNull();
      expect((await b.store.getSession("4"))?.parent_session_id).toBe("3");
      for (const id of ["3", "4"]) {
        await b.store.endSession(id, "x");
        backdate(b, id, { started: 1 });
      }
      expect(await b.store.pruneSessions()).toBe(2);
    });
    it("sweeps empty terminal sessions", async () => {
      const b = fixture();
      for (const id of ["ghost", "named", "spoken", "open", "new"]) await add(b.store, id, { source: "tui" });
      await add(b.store, "child", { parent: "ghost" });
      await b.store.setSessionTitle("named", "N");
      await b.store.appendMessage("spoken", { role: "user", content: "x" });
      for (const id of ["ghost", "named", "spoken", "new"]) await b.store.endSession(id, "tui_close");
      for (const id of ["ghost", "named", "spoken", "open"]) backdate(b, id, { started: nowSeconds() - 2 * DAY });
      mkdirSync(join(b.dir, "sessions"));
      writeFileSync(join(b.dir, "sessions", "ghost.json"), "{}");
      expect(await b.store.pruneEmptyGhostSessions(join(b.dir, "sessions"))).toBe(1);
      expect(existsSync(join(b.dir, "sessions", "ghost.json"))).toBe(false);
      expect((await b.store.getSession("child"))?.parent_session_id).toBeNull();
    });
  });

  describe("meta and maintenance", () => {
    it("keeps named values", async () => {
      const { store } = fixture();
      expect(await store.getMeta("k")).toBeNull();
      await store.setMeta("k", "1");
      await store.setMeta("k", "2");
      expect(await store.getMeta("k")).toBe("2");
      await store.vacuum();
      expect(await store.getMeta("k")).toBe("2");
    });
    it("prunes and vacuums when due, and says so", async () => {
      const b = fixture();
      const { store, dir } = b;
      await oldEnded(b, "old");
      writeFileSync(join(dir, "old.json"), "{}");
      writeFileSync(join(dir, "kept.json"), "{}");
      expect(await store.maybeAutoPruneAndVacuum({ sessionsDir: dir })).toEqual({
        skipped: false,
        pruned: 1,
        vacuumed: true,
      });
      expect([existsSync(join(dir, "old.json")), existsSync(join(dir, "kept.json"))]).toEqual([false, true]);
      expect(await store.maybeAutoPruneAndVacuum()).toEqual({ skipped: true, pruned: 0, vacuumed: false });
      await store.setMeta("last_auto_prune", String(nowSeconds() - 25 * 3600));
      expect(await store.maybeAutoPruneAndVacuum()).toEqual({ skipped: false, pruned: 0, vacuumed: false });
      expect(Number(await store.getMeta("last_auto_prune"))).toBeGreaterThan(nowSeconds() - 60);
      await oldEnded(b, "old");
      writeFileSync(join(dir, "old.json"), "{}");
      await store.setMeta("last_auto_prune", "garbage");
      expect(await store.maybeAutoPruneAndVacuum({ vacuum: false })).toEqual({
        skipped: false,
        pruned: 1,
        vacuumed: false,
      });
      expect(existsSync(join(dir, "old.json"))).toBe(true);
    });
    it("computes the totals of the store", async () => {
      const { store } = fixture();
      await add(store, "a", { text: "x" });
      await add(store, "b", { source: "tui" });
      await store.updateTokenCounts("a", { model: "m", inputTokens: 10, outputTokens: 2, estimatedCostUsd: 1.5 });
      expect(await store.stats()).toMatchObject({
        sessions: 2,
        messages: 1,
        bySource: { cli: 1, tui: 1 },
        indexLayout: "inline",
        byModel: [{ model: "m", session_count: 1, total_input: 10, total_output: 2, total_cost: 1.5 }],
        largestByTokens: [
          { id: "a", total_tokens: 12 },
          { id: "b", total_tokens: 0 },
        ],
      });
      expect((await store.stats()).fileBytes + (await store.stats()).walBytes).toBeGreaterThan(4096);
    });
  });
};
