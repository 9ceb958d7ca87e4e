import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { declaredSettings } from "./declared-settings.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "declared-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function skill(rel: string, name: string, config: string) {
  const file = join(root, rel, "SKILL.md");
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `---\nname: ${name}\ndescription: About ${name}\n${config}---\n\nDo it.\n`);
}

const declares = (...entries: string[]) =>
  `metadata:\n  hermes:\n    config:\n${entries.map((entry) => `      - {${entry}}\n`).join("")}`;

test("settings of enabled skills with the value in use, secrets masked", async () => {
  const wiki = declares("key: wiki.path, description: Where", "key: wiki.api_key, description: Key");
  const mode = declares("key: mode.speed, description: How, default: fast", "key: mode.x, description: No");
  await skill("notes/wiki", "wiki", wiki);
  await skill("notes/mode", "mode", mode);
  await skill("off", "off", declares("key: off.path, description: Never shown"));
  await skill("plain", "plain", "");
  const values = { wiki: { path: "~/wiki", api_key: "0123456789abcdef-secret" } };
  const found = await declaredSettings([root, join(root, "missing")], values, ["off"]);
  expect(found.map(({ path, skill: owner, value, set }) => [path, owner, value, set])).toEqual([
    ["skills.config.mode.speed", "mode", "fast", false],
    ["skills.config.mode.x", "mode", undefined, false],
    ["skills.config.wiki.path", "wiki", "~/wiki", true],
    ["skills.config.wiki.api_key", "wiki", "***cret", true],
  ]);
});
