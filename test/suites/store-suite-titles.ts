// Titles of any store host: cleaning, uniqueness, lineage.
import { describe, expect, it } from "vitest";
import type { FullStore } from "../../src/store/full-store.ts";
import type { Suite } from "../kit/store-fixture.ts";

async function titled(store: FullStore, ...titles: string[]): Promise<void> {
  for (const [index, title] of titles.entries()) {
    await store.createSession({ id: `t${index}`, source: "cli" });
    await store.setSessionTitle(`t${index}`, title);
  }
}

export const titleSuite: Suite = (fixture) => {
  describe("titles", () => {
    it("are null at first, set, changed, cleared, and survive the end", async () => {
      const { store } = fixture();
      await store.createSession({ id: "s", source: "cli" });
      expect(await store.getSessionTitle("s")).toBeNull();
      expect(await store.setSessionTitle("s", 'One: it\'s "fine" (v2)!')).toBe(true);
      expect(await store.getSessionTitle("s")).toBe('One: it\'s "fine" (v2)!');
      await store.setSessionTitle("s", "Two");
      await store.endSession("s", "x");
      expect(await store.getSessionTitle("s")).toBe("Two");
      expect((await store.searchSessions())[0]?.title).toBe("Two");
      expect((await store.listSessions())[0]?.title).toBe("Two");
      expect((await store.exportSession("s"))?.title).toBe("Two");
      expect(await store.setSessionTitle("s", "")).toBe(true);
      expect(await store.getSessionTitle("s")).toBeNull();
      expect(await store.setSessionTitle("none", "x")).toBe(false);
      expect(await store.getSessionTitle("none")).toBeNull();
    });
    it("may be empty in several sessions", async () => {
      const { store } = fixture();
      await titled(store, "", "", "  ");
      expect((await store.listSessions()).map((row) => row.title)).toEqual([null, null, null]);
    });
    it.each([
      ["plain", "plain"],
      ["  trim  ", "trim"],
      ["a   b", "a b"],
      ["tab\tand\nline\r\nend", "tab and line end"],
      ["", null],
      [" \t ", null],
      ["a\u0000b\u0007c", "abc"],
      ["del\u007fete", "delete"],
      ["zero\u200bwidth", "zerowidth"],
      ["rtl\u202eoverride", "rtloverride"],
      ["\ufeffbom", "bom"],
      ["line\u2028separator", "lineseparator"],
      ["next\u0085line", "next line"],
      ["\u0001\u200b\u0002", null],
      ["🚀 launch 🎉", "🚀 launch 🎉"],
      ["备份 数据库", "备份 数据库"],
      ["café déjà", "café déjà"],
      ["x".repeat(100), "x".repeat(100)],
      ["😀".repeat(100), "😀".repeat(100)],
    ])("cleans %j", async (given, stored) => {
      const { store } = fixture();
      await titled(store, given);
      expect(await store.getSessionTitle("t0")).toBe(stored);
    });
    it("refuses more than 100 characters", async () => {
      const { store } = fixture();
      await store.createSession({ id: "s", source: "cli" });
      await expect(store.setSessionTitle("s", "😀".repeat(101))).rejects.toThrow("Title too long (101 chars, max 100)");
      expect(await store.getSessionTitle("s")).toBeNull();
    });
    it("belong to one session", async () => {
      const { store } = fixture();
      await titled(store, "Mine");
      await store.createSession({ id: "other", source: "cli" });
      await expect(store.setSessionTitle("other", "Mine")).rejects.toThrow("already in use by session t0");
      expect(await store.setSessionTitle("t0", "Mine")).toBe(true);
      expect((await store.getSessionByTitle("Mine"))?.id).toBe("t0");
      expect(await store.getSessionByTitle("mine")).toBeNull();
    });
    it("resolve to the latest of their lineage", async () => {
      const { store } = fixture();
      await titled(store, "A", "A #2", "A #3", "B", "b_c", "bXc #2");
      expect(await store.resolveSessionByTitle("A")).toBe("t2");
      expect(await store.resolveSessionByTitle("A #2")).toBe("t1");
      expect(await store.resolveSessionByTitle("B")).toBe("t3");
      expect(await store.resolveSessionByTitle("none")).toBeNull();
      expect(await store.resolveSessionByTitle("b_c")).toBe("t4");
      expect(await store.resolveSessionByTitle("%")).toBeNull();
    });
    it("are numbered", async () => {
      const { store } = fixture();
      expect(await store.getNextTitleInLineage("A")).toBe("A");
      await titled(store, "A", "b_c", "bXc #7", "100%", "1000 #9");
      expect(await store.getNextTitleInLineage("A")).toBe("A #2");
      await store.setSessionTitle("t0", "A #3");
      expect(await store.getNextTitleInLineage("A")).toBe("A #4");
      expect(await store.getNextTitleInLineage("A #3")).toBe("A #4");
      expect(await store.getNextTitleInLineage("b_c")).toBe("b_c #2");
      expect(await store.getNextTitleInLineage("100%")).toBe("100% #2");
    });
  });
};
