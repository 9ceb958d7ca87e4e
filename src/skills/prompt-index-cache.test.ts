import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type SkillHome, skillHome } from "../../test/kit/skill-fixture.ts";

const VIEW = { toolNames: ["terminal"], toolsets: ["terminal"] };
let home: SkillHome;
beforeEach(() => {
  home = skillHome();
  for (const name of ["a/one", "a/two", "b/three"]) home.skill(name);
  home.write("skills/a/DESCRIPTION.md", "---\ndescription: First things\n---\n");
});
afterEach(() => home.remove());

const at = (rel: string) => join(home.path, "skills", rel);
const cache = () => join(home.path, "cache", "skills-index.json");
const MARK = "KEPT";

/** Sets all times to a minute ago. */
function age(dir = home.path): void {
  for (const entry of readdirSync(dir, { withFileTypes: true }))
    if (entry.isDirectory()) age(join(dir, entry.name));
    else if (!entry.isSymbolicLink()) utimesSync(join(dir, entry.name), 1_700_000_000, 1_700_000_000);
  utimesSync(dir, 1_700_000_000, 1_700_000_000);
}

/** Stores the index with a marker, so that a test sees whether the cache is used. */
async function keptAndMarked(): Promise<void> {
  age();
  await home.service.index(VIEW);
  writeFileSync(cache(), readFileSync(cache(), "utf8").replace("## Skills", `## Skills ${MARK}`));
  expect(await home.service.index(VIEW)).toContain(MARK);
}

describe("the cached index", () => {
  it.each<[string, () => void, RegExp]>([
    ["an edit in place", () => home.skill("a/one", "", "# Other\n").length, /one: About a\/one/],
    [
      "an edit of the same length",
      () => {
        const file = at("a/one/SKILL.md");
        writeFileSync(file, readFileSync(file, "utf8").replace("About a/one", "About A/ONE"));
      },
      /About A\/ONE/,
    ],
    ["a newer time", () => utimesSync(at("a/one/SKILL.md"), 1_700_000_001, 1_700_000_001), /About a\/one/],
    ["an older time", () => utimesSync(at("a/one/SKILL.md"), 1_600_000_000, 1_600_000_000), /About a\/one/],
    ["a new skill", () => home.skill("a/four"), /- four: About a\/four/],
    ["a new skill in a new category", () => home.skill("c/five"), /c:[\s\S]*- five/],
    ["a skill inside another", () => home.skill("a/one/inner"), /- inner/],
    ["a removed skill", () => rmSync(at("a/two"), { recursive: true }), /^(?![\s\S]*two)/],
    ["a removed file", () => rmSync(at("a/two/SKILL.md")), /^(?![\s\S]*two)/],
    ["a renamed folder", () => renameSync(at("b"), at("z")), / {2}z:/],
    ["a changed category", () => home.write("skills/a/DESCRIPTION.md", "---\ndescription: Best\n---\n"), /a: Best/],
    [
      "an editor that writes beside and renames",
      () => {
        home.write("skills/a/one/SKILL.md.tmp", readFileSync(at("a/one/SKILL.md"), "utf8").replace("About", "Aboot"));
        renameSync(at("a/one/SKILL.md.tmp"), at("a/one/SKILL.md"));
      },
      /Aboot a\/one/,
    ],
    [
      "a link to another folder",
      () => {
        const other = join(home.path, "elsewhere");
        mkdirSync(join(other, "six"), { recursive: true });
        writeFileSync(join(other, "six/SKILL.md"), "---\nname: six\ndescription: Linked\n---\n\nDo.\n");
        symlinkSync(other, at("linked"));
      },
      /- six: Linked/,
    ],
  ])("is rebuilt after %s", async (_, change, shows) => {
    await keptAndMarked();
    change();
    const text = await home.service.index(VIEW);
    expect(text).not.toContain(MARK);
    expect(text).toMatch(shows);
  });

  it("is separate for each view, and rebuilt when skills are disabled", async () => {
    await keptAndMarked();
    expect(await home.service.index({ ...VIEW, toolNames: ["read_file"] })).not.toContain(MARK);
    expect(await home.service.index({ ...VIEW, platform: "telegram" })).not.toContain(MARK);
    expect(await home.service.index(VIEW)).toContain(MARK);
  });

  it("is not stored while files are very recent, and not used when it is broken", async () => {
    await home.service.index(VIEW);
    expect(existsSync(cache())).toBe(false);
    age();
    await home.service.index(VIEW);
    for (const broken of ["", "{", '{"version":1}', '{"version":1,"folders":[],"files":[],"texts":{},"roots":[]}']) {
      writeFileSync(cache(), broken);
      expect(await home.service.index(VIEW)).toContain("- one: About a/one");
    }
  });
});
