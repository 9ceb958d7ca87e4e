// A clean text is scanned once per build; everything else is scanned every time.
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import type { Scan } from "../core/scan.ts";
import { cacheCleanTexts } from "./clean-texts.ts";

const PLAIN = "Use tabs, run the tests. ".repeat(60);
const HOSTILE = `${PLAIN} evil`;

let folder: string;
let path: string;
let scanned: string[];
beforeEach(() => {
  folder = tempDir("hermes-clean-");
  path = join(folder, "cache", "clean-texts.json");
  scanned = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const scan: Scan = (text, source) => {
  scanned.push(source);
  return text.endsWith("evil")
    ? { text: "[quarantined]", findings: [{ rule: "evil", severity: "high" }] }
    : { text, findings: [] };
};

/** Opens the cache as a new process does. */
const opened = (build = "1") =>
  cacheCleanTexts(scan, { path, build, isTransient: (source) => source.startsWith("web:") });

async function firstRun(): Promise<void> {
  opened()(PLAIN, "AGENTS.md");
  await expect.poll(() => existsSync(path)).toBe(true);
  scanned = [];
}

it("does not scan a text again that an earlier run found clean", async () => {
  await firstRun();
  expect(opened()(PLAIN, "AGENTS.md")).toEqual({ text: PLAIN, findings: [] });
  expect(scanned).toEqual([]);
});

it("scans changed texts again, and all texts after an update", async () => {
  await firstRun();
  opened()(`${PLAIN}!`, "AGENTS.md");
  opened("2")(PLAIN, "AGENTS.md");
  expect(scanned).toEqual(["AGENTS.md", "AGENTS.md"]);
});

it("scans suspicious texts every time", () => {
  const first = opened();
  for (const run of [first, first, opened()]) expect(run(HOSTILE, "AGENTS.md").text).toBe("[quarantined]");
  expect(scanned).toHaveLength(3);
});

it("scans short texts and web pages every time, and ignores a broken cache file", async () => {
  await firstRun();
  const run = opened();
  run("short", "SOUL.md");
  run(PLAIN, "web:https://a.example/");
  writeFileSync(path, "{");
  opened()(PLAIN, "AGENTS.md");
  expect(scanned).toEqual(["SOUL.md", "web:https://a.example/", "AGENTS.md"]);
});
