import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type SkillHome, skillHome } from "../../test/kit/skill-fixture.ts";
import { syncWhenChanged } from "./bundled-stamp.ts";
import { readManifest, resetBundled, syncBundled } from "./bundled-sync.ts";
import { compareParts, hashFolder } from "./dir-hash.ts";

let source: SkillHome;
let home: SkillHome;
beforeEach(() => {
  source = skillHome();
  home = skillHome();
  for (const name of ["one", "two"]) source.skill(`tools/${name}`);
  source.write("skills/tools/DESCRIPTION.md", "---\ndescription: Tools\n---\n");
});
afterEach(() => {
  source.remove();
  home.remove();
});
const bundled = () => join(source.path, "skills");
const sync = () => syncBundled(home.path, bundled());
const file = (name: string) => join(home.path, "skills/tools", name, "SKILL.md");

it("copies first, does nothing the second time, and installs new versions", async () => {
  expect(await sync()).toMatchObject({ copied: ["one", "two"], updated: [], total_bundled: 2 });
  expect(existsSync(join(home.path, "skills/tools/DESCRIPTION.md"))).toBe(true);
  expect(await sync()).toMatchObject({ copied: [], updated: [], skipped: 2 });
  source.write("skills/tools/one/scripts/new.sh", "echo");
  expect(await sync()).toMatchObject({ updated: ["one"], skipped: 1 });
  expect(existsSync(join(home.path, "skills/tools/one/scripts/new.sh"))).toBe(true);
  const manifest = readFileSync(join(home.path, "skills/.bundled_manifest"), "utf8");
  expect(manifest).toMatch(/^one:[0-9a-f]{32}\ntwo:[0-9a-f]{32}\n$/);
});

it("never changes edited skills, and does not restore deleted ones", async () => {
  await sync();
  writeFileSync(file("one"), "mine");
  rmSync(join(home.path, "skills/tools/two"), { recursive: true });
  source.write("skills/tools/one/SKILL.md", "newer");
  source.write("skills/tools/two/SKILL.md", "newer");
  expect(await sync()).toMatchObject({ copied: [], updated: [], user_modified: ["one"], skipped: 1 });
  expect(readFileSync(file("one"), "utf8")).toBe("mine");
  expect(existsSync(file("two"))).toBe(false);
  expect(await resetBundled(home.path, bundled(), "one", { restore: true })).toBe("restored");
  expect(readFileSync(file("one"), "utf8")).toBe("newer");
  expect(await resetBundled(home.path, bundled(), "nope", { restore: false })).toBe("not_in_manifest");
});

it("keeps an existing skill of the same name, and adopts an identical one", async () => {
  home.write("skills/tools/one/SKILL.md", "older than the program");
  home.write("skills/tools/two/SKILL.md", readFileSync(join(bundled(), "tools/two/SKILL.md"), "utf8"));
  expect(await sync()).toMatchObject({ copied: [], user_modified: ["one"], skipped: 1 });
  expect([...readManifest(join(home.path, "skills")).keys()]).toEqual(["two"]);
});

it("reads the older manifest, and removes skills that are no longer bundled", async () => {
  await sync();
  writeFileSync(join(home.path, "skills/.bundled_manifest"), "one\ngone:abc\ntwo\n");
  expect(await sync()).toMatchObject({ cleaned: ["gone"], skipped: 2 });
  expect(readManifest(join(home.path, "skills")).get("one")).toMatch(/^[0-9a-f]{32}$/);
});

it("respects the opt-out, and is skipped when nothing changed", async () => {
  home.write(".no-bundled-skills", "");
  expect(await sync()).toMatchObject({ copied: [], total_bundled: 0 });
  rmSync(join(home.path, ".no-bundled-skills"));
  await syncWhenChanged(home.path, bundled());
  expect(existsSync(file("one"))).toBe(true);
  rmSync(join(home.path, "skills/.bundled_manifest"));
  rmSync(join(home.path, "skills/tools"), { recursive: true });
  await syncWhenChanged(home.path, bundled());
  expect(existsSync(file("one"))).toBe(false);
});

it("hashes in the order of path components", () => {
  const order = [["a-b"], ["a", "z"], ["a.md"], ["a", "b", "c"]].sort(compareParts).map((parts) => parts.join("/"));
  expect(order).toEqual(["a/b/c", "a/z", "a-b", "a.md"]);
  mkdirSync(join(home.path, "h/a"), { recursive: true });
  writeFileSync(join(home.path, "h/a/x"), "1");
  writeFileSync(join(home.path, "h/a.md"), "2");
  expect(hashFolder(join(home.path, "h"))).toBe("04f8277efbbc6d24e0335cb968261fa9");
});

it("reads nothing while the build is the same, and syncs with the next one", async () => {
  await syncWhenChanged(home.path, bundled(), "1.0 a");
  expect(existsSync(file("one"))).toBe(true);
  source.skill("tools/later");
  await syncWhenChanged(home.path, bundled(), "1.0 a");
  expect(existsSync(file("later"))).toBe(false);
  await syncWhenChanged(home.path, bundled(), "1.0 b");
  expect(existsSync(file("later"))).toBe(true);
});
