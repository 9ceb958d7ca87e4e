// The cached tree of config.yaml is valid for one state of the file and holds no secret.
import { existsSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { loadConfig } from "./load.ts";
import { fileStamp } from "./tree-cache.ts";

let home: string;
let file: string;
let copy: string;
beforeEach(() => {
  home = tempDir("hermes-tree-");
  file = join(home, "config.yaml");
  copy = join(home, "cache", "config-tree.json");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** As if it had been written a while ago. */
function write(text: string): void {
  writeFileSync(file, text);
  const before = Date.now() / 1000 - 60;
  utimesSync(file, before, before);
}

const load = () => loadConfig({ home: { path: home, env: {} } });

/** Makes the copy differ from the file, to see which of the two is read. */
function changeCachedTree(): void {
  const kept = JSON.parse(readFileSync(copy, "utf8"));
  writeFileSync(copy, JSON.stringify({ ...kept, tree: { agent: { max_turns: 7 } } }));
}

describe("the cached tree of config.yaml", () => {
  it("is read instead of the file until the file changes, and is private", async () => {
    write("agent:\n  max_turns: 5\n");
    expect((await load()).config.agent.max_turns).toBe(5);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    changeCachedTree();
    expect((await load()).config.agent.max_turns).toBe(7);
    write("agent:\n  max_turns: 6\n");
    expect((await load()).config.agent.max_turns).toBe(6);
    changeCachedTree();
    rmSync(file);
    expect((await load()).config.agent.max_turns).toBe(90);
  });

  it("returns the same result as the file, with the positions of mistakes", async () => {
    write("agent:\n  max_turns: many\nmodell: x\nterminal: {env_passthrough: [A, 007, yes]}\n");
    const first = await load();
    const second = await load();
    expect(second).toEqual(first);
    expect(second.warnings.map(({ line }) => line)).toEqual(expect.arrayContaining([2, 3]));
  });

  it("is not written for a file with a secret, and is removed when one is added", async () => {
    write("agent:\n  max_turns: 5\n");
    await load();
    expect(existsSync(copy)).toBe(true);
    write("providers:\n  mine:\n    api_key: hunter2-hunter2\n");
    await load();
    expect(existsSync(copy)).toBe(false);
    write(`providers:\n  mine:\n    api_key: \${MINE_KEY}\n`);
    await load();
    expect(existsSync(copy)).toBe(true);
  });

  it("is not written for a file that was just modified, nor for a broken one", async () => {
    writeFileSync(file, "agent:\n  max_turns: 5\n");
    await load();
    expect(existsSync(copy)).toBe(false);
    write("agent: [\n");
    await load();
    expect(existsSync(copy)).toBe(false);
  });

  it("is ignored when it is incomplete", async () => {
    write("agent:\n  max_turns: 5\n");
    await load();
    writeFileSync(copy, `{"stamp":"${fileStamp(file)}","tree":`);
    expect((await load()).config.agent.max_turns).toBe(5);
  });
});
