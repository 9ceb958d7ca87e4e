// The tick lock of Hermes Agent v0.14, with real programs and kernel locks.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { takeTickLock } from "./tick-lock.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = tempDir("hermes-tick-");
  path = join(dir, ".tick.lock");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function taken(): Promise<() => Promise<void>> {
  const lock = await takeTickLock(path);
  if (lock === "held") throw new Error("it is held");
  return lock;
}

it("is exclusive until it is released", async () => {
  writeFileSync(path, "");
  const release = await taken();
  expect(await takeTickLock(path)).toBe("held");
  await release();
  await (await taken())();
});

it("is not needed where v0.14 has never run", async () => {
  const release = await taken();
  await (await taken())();
  await release();
});
