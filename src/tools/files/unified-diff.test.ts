import { parsePatch } from "diff";
import { expect, it } from "vitest";
import { unifiedDiff, withShortPaths, writeDiff } from "./unified-diff.ts";

const counted = (diff = "") => parsePatch(diff).flatMap((file) => file.hunks.flatMap((hunk) => hunk.lines));

it("shows a new file as added lines, in a form that other programs read", async () => {
  const diff = await writeDiff({ path: "a.txt", before: null, after: "one\ntwo\n" });
  expect(diff).toContain("--- /dev/null\n+++ a.txt\n@@ -0,0 +1,2 @@");
  expect(counted(diff)).toEqual(["+one", "+two"]);
});

it("shows what changed in an existing file, and nothing when nothing did", async () => {
  const diff = await writeDiff({ path: "a.txt", before: "one\ntwo\nthree\n", after: "one\n2\nthree\n" });
  expect(counted(diff)).toEqual([" one", "-two", "+2", " three"]);
  expect(await writeDiff({ path: "a.txt", before: "x", after: "x" })).toBeUndefined();
});

it("shows paths relative to the folder of the conversation", async () => {
  const diff = (await writeDiff({ path: "/project/src/a.txt", before: null, after: "--- /project/x\n" })) ?? "";
  expect(withShortPaths(diff, "/project")).toContain("+++ src/a.txt\n@@ -0,0 +1,1 @@\n+--- /project/x");
  expect(withShortPaths(diff, "/other")).toContain("+++ /project/src/a.txt");
});

it("does not compare files that are too large for a display, and gives up on slow comparisons", async () => {
  const large = "x".repeat(150_000);
  expect(await writeDiff({ path: "a", before: large, after: `${large}y` })).toBeUndefined();
  const lines = (from: number) =>
    Array.from({ length: 4_000 }, (_, index) => `${(index * 7919 + from) % 104_729}`).join("\n");
  const change = { path: "a", before: lines(0), after: lines(50_000) };
  expect(counted(await unifiedDiff([change], 0))).toHaveLength(8_000);
});
