// Removes spilled tool results by age and total size; keeps recent files and files outside the folder.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import type { Home } from "../core/home.ts";
import { startSpillSweeper, sweepSpills } from "./spill-sweep.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
let home: string;
let folder: string;
beforeEach(() => {
  home = tempDir("hermes-spill-");
  folder = join(home, "cache", "tool-results");
  mkdirSync(folder, { recursive: true });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function put(name: string, ageMs: number, bytes = 10): void {
  const path = join(folder, name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, "x".repeat(bytes));
  const at = new Date(Date.now() - ageMs);
  utimesSync(path, at, at);
}

function age(name: string, ageMs: number): void {
  const at = new Date(Date.now() - ageMs);
  utimesSync(join(folder, name), at, at);
}

it("removes by age, with the folders that are left empty", async () => {
  put("old/a.txt", 20 * DAY);
  put("mixed/b.txt", 20 * DAY);
  put("mixed/c.txt", 2 * DAY);
  age("old", 2 * DAY);
  // Removing a file updates the time of its folder, so the empty folder is removed by a later sweep.
  expect(await sweepSpills(folder, { maxAgeMs: 14 * DAY, maxBytes: 1e9 })).toEqual({ files: 2, bytes: 20 });
  age("old", 2 * HOUR);
  await sweepSpills(folder, { maxAgeMs: 14 * DAY, maxBytes: 1e9 });
  expect(readdirSync(folder)).toEqual(["mixed"]);
  expect(readdirSync(join(folder, "mixed"))).toEqual(["c.txt"]);
});

it("removes the oldest files above the total size, but none of the last hour", async () => {
  put("s/1.txt", 5 * DAY, 100);
  put("s/2.txt", 4 * DAY, 100);
  put("s/3.txt", 3 * DAY, 100);
  put("s/new.txt", 0, 1000);
  await sweepSpills(folder, { maxAgeMs: 14 * DAY, maxBytes: 1150 });
  expect(readdirSync(join(folder, "s")).sort()).toEqual(["3.txt", "new.txt"]);
  await sweepSpills(folder, { maxAgeMs: 14 * DAY, maxBytes: 1 });
  expect(readdirSync(join(folder, "s"))).toEqual(["new.txt"]);
});

it("follows no link out of the folder", async () => {
  const outside = join(home, "mine");
  mkdirSync(outside);
  writeFileSync(join(outside, "precious.txt"), "x");
  utimesSync(join(outside, "precious.txt"), new Date(0), new Date(0));
  symlinkSync(outside, join(folder, "link"));
  symlinkSync(join(outside, "precious.txt"), join(folder, "file-link"));
  await sweepSpills(folder, { maxAgeMs: DAY, maxBytes: 1 });
  expect(existsSync(join(outside, "precious.txt"))).toBe(true);
});

it("sweeps when closed, once a day, and accepts a missing folder", async () => {
  const at = (path: string) => startSpillSweeper({ path } as Home, { keep_days: 14, keep_mb: 1000 }).close();
  put("s/a.txt", 20 * DAY);
  await at(home);
  expect(existsSync(join(folder, "s", "a.txt"))).toBe(false);
  put("s/b.txt", 20 * DAY);
  await at(home);
  expect(existsSync(join(folder, "s", "b.txt"))).toBe(true);
  age(".swept", 2 * DAY);
  await at(home);
  expect(existsSync(join(folder, "s", "b.txt"))).toBe(false);
  await at(join(home, "nowhere"));
  expect(existsSync(join(home, "nowhere"))).toBe(false);
});
