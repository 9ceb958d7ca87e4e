import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import type { Home } from "../core/home.ts";
import { discoverPlugins } from "./discovery.ts";
import { PluginCache } from "./plugin-cache.ts";

let folder: string;

beforeEach(() => {
  folder = tempDir("hermes-find-");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): void {
  const file = join(folder, "plugins", path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Sets all times to a minute ago. */
function settle(path: string = join(folder, "plugins")): void {
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) settle(join(path, name));
  const past = Date.now() / 1000 - 60;
  utimesSync(path, past, past);
}

async function find() {
  const home: Home = {
    path: folder,
    root: folder,
    profile: "default",
    env: { HERMES_BUNDLED_PLUGINS: join(folder, "none") },
    cwd: folder,
    managedBy: null,
    childHome: null,
  };
  const cache = PluginCache.open(folder);
  const found = await discoverPlugins(home, cache);
  await cache.save();
  return [...found.values()].map(({ key, manifest, entry }) => [
    key,
    manifest.version,
    entry?.slice(entry.lastIndexOf("/") + 1),
  ]);
}

describe("the index of plugins", () => {
  beforeEach(async () => {
    write("flat/plugin.yaml", "name: flat\nversion: 1.0.0\n");
    write("flat/index.js", "");
    write("tools/nested/plugin.yaml", "name: nested\nversion: 1.0.0\n");
    write("tools/nested/index.js", "");
    write("notes/readme.txt", "no plugin");
    settle();
    expect(await find()).toEqual([
      ["flat", "1.0.0", "index.js"],
      ["tools/nested", "1.0.0", "index.js"],
    ]);
  });

  const index = () => readFileSync(join(folder, "cache", "plugins", "index.json"), "utf8");

  it("is not written again while nothing changes", async () => {
    const before = index();
    utimesSync(join(folder, "cache", "plugins", "index.json"), 1, 1);
    await find();
    expect(index()).toBe(before);
    expect(statSync(join(folder, "cache", "plugins", "index.json")).mtimeMs).toBe(1000);
  });

  it.each<[string, () => void, unknown]>([
    ["a manifest that is edited in place", () => write("flat/plugin.yaml", "name: flat\nversion: 1.1.0\n"), "1.1.0"],
    ["a new plugin", () => write("later/plugin.yaml", "name: later\n"), "later"],
    ["a new plugin in a category", () => write("tools/later/plugin.yml", "name: x\n"), "tools/later"],
    ["a manifest in a folder that had none", () => write("notes/plugin.yaml", "name: notes\n"), "notes"],
    ["a new category", () => write("more/one/plugin.yaml", "name: one\n"), "more/one"],
  ])("sees %s", async (_, change, expected) => {
    change();
    expect((await find()).flat()).toContain(expected);
  });

  it("sees removed plugins", async () => {
    rmSync(join(folder, "plugins", "tools", "nested"), { recursive: true });
    expect(await find()).toEqual([["flat", "1.0.0", "index.js"]]);
    rmSync(join(folder, "plugins", "flat", "plugin.yaml"));
    expect(await find()).toEqual([]);
    rmSync(join(folder, "plugins"), { recursive: true });
    expect(await find()).toEqual([]);
  });

  it("sees an entry file that is added, removed or renamed", async () => {
    rmSync(join(folder, "plugins", "flat", "index.js"));
    expect((await find())[0]).toEqual(["flat", "1.0.0", undefined]);
    settle();
    await find();
    write("flat/index.ts", "");
    expect((await find())[0]).toEqual(["flat", "1.0.0", "index.ts"]);
  });

  it("sees a package that npm installed", async () => {
    write("package.json", JSON.stringify({ dependencies: { parcel: "1.0.0" } }));
    write("node_modules/parcel/package.json", JSON.stringify({ name: "parcel", version: "1.0.0", hermes: {} }));
    expect((await find()).flat()).toContain("parcel");
    settle();
    await find();
    write("node_modules/parcel/package.json", JSON.stringify({ name: "parcel", version: "1.2.0", hermes: {} }));
    expect((await find()).flat()).toContain("1.2.0");
  });

  it("starts empty from a file that is broken or has another format", async () => {
    for (const text of ["{", "null", '{"format":1,"manifests":{}}']) {
      writeFileSync(join(folder, "cache", "plugins", "index.json"), text);
      expect(await find()).toHaveLength(2);
    }
  });
});
