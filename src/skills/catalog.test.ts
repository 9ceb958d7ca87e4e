import { mkdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it, test } from "vitest";
import { type SkillHome, type SkillHomeOptions, skillHome } from "../../test/kit/skill-fixture.ts";
import { estimateTextTokens } from "../core/model/tokens.ts";
import { parseSkill, runsOn } from "./parse.ts";
import { searchSkills } from "./search.ts";

let homes: SkillHome[] = [];
const open = (options: SkillHomeOptions = {}): SkillHome => {
  const home = skillHome(options);
  homes.push(home);
  return home;
};
afterEach(() => {
  for (const home of homes) home.remove();
  homes = [];
});
const NO_TOOLS = { toolNames: [], toolsets: [] };

describe("SKILL.md", () => {
  it("reads every field in each notation", async () => {
    const { header, mistakes } = await parseSkill(`---
name: full
description: "Uses: everything"
version: 1.2
author: Ada
license: MIT
platforms: macos, linux
compatibility: Needs Python 3.10
allowed-tools: Bash(git:*) Read
dependencies: [curl, jq]
prerequisites:
  env_vars: [OLD_KEY, NEW_KEY]
  commands: [git]
setup:
  help: See the wiki
  collect_secrets:
    - env_var: SETUP_KEY
      provider_url: https://example.org
required_environment_variables:
  - name: NEW_KEY
    prompt: The key
    help: Ask Bob
    required_for: search
  - PLAIN_KEY
  - name: MAYBE
    optional: true
  - name: "not a name"
required_credential_files:
  - token.json
  - path: client.json
    description: OAuth client
metadata:
  hermes:
    tags: "[a, b]"
    related_skills: x, y
    requires_toolsets: [web]
    fallback_for_tools: web_search
    config:
      - key: full.path
        description: Where
        default: "~/x"
      - key: full.path
        description: Twice
      - key: nodescription
---

Body.`);
    expect(mistakes).toEqual([]);
    expect(header).toMatchObject({
      name: "full",
      description: "Uses: everything",
      version: "1.2",
      platforms: ["macos", "linux"],
      compatibility: "Needs Python 3.10",
      allowedTools: ["Bash(git:*)", "Read"],
      dependencies: ["curl", "jq"],
      commands: ["git"],
      setupHelp: "See the wiki",
      tags: ["a", "b"],
      relatedSkills: ["x", "y"],
      conditions: { requires_toolsets: ["web"], fallback_for_tools: ["web_search"] },
      settings: [{ key: "full.path", description: "Where", prompt: "Where", default: "~/x" }],
      credentialFiles: [{ path: "token.json" }, { path: "client.json", description: "OAuth client" }],
    });
    expect(header.variables).toEqual([
      { name: "NEW_KEY", prompt: "The key", help: "Ask Bob", requiredFor: "search", optional: false },
      { name: "PLAIN_KEY", prompt: "Enter value for PLAIN_KEY", optional: false },
      { name: "MAYBE", prompt: "Enter value for MAYBE", optional: true },
      { name: "SETUP_KEY", prompt: "Enter value for SETUP_KEY", help: "https://example.org", optional: false },
      { name: "OLD_KEY", prompt: "Enter value for OLD_KEY", optional: false },
    ]);
  });

  it("never throws, whatever the text is", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ maxLength: 200 }), fc.constantFrom("*!", "a: *b", "&a [*a, *a]")),
        async (text) => {
          const parsed = await parseSkill(`---\n${text}\n---\nbody`);
          expect(Array.isArray(parsed.mistakes)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each([
    [[], "linux", true],
    [["macos"], "darwin", true],
    [["macos", "linux"], "win32", false],
    [["windows"], "win32", true],
  ] as const)("platforms %j on %s: %s", (platforms, system, runs) => {
    expect(runsOn(platforms, system)).toBe(runs);
  });
});

describe("the list", () => {
  it("shows a broken file with its line and hint, and all others", async () => {
    const home = open();
    home.skill("data/good");
    home.write("skills/data/bad/SKILL.md", "---\nname: bad\ndescription: Half: a: mistake\n  wrong: [\n---\nText\n");
    home.write("skills/data/none/SKILL.md", "Just text that explains.\n");
    const { skills, problems } = await home.service.list();
    expect(skills.map((skill) => skill.name)).toEqual(["bad", "good", "none"]);
    expect(skills.find((skill) => skill.name === "none")?.description).toBe("Just text that explains.");
    expect(problems.map(({ file, line }) => [file.split("/").at(-2), line])).toEqual([
      ["bad", 3],
      ["none", 1],
    ]);
    for (const problem of problems) expect(problem.hint).not.toBe("");
  });

  it("prefers the home over external folders, and hides skills that are disabled or for another system", async () => {
    const other = open();
    other.skill("tools/shared", "", "external\n");
    other.skill("tools/extra");
    const external = join(other.path, "skills");
    const home = open({
      settings: {
        externalDirs: [external],
        disabled: (platform) => new Set(platform === "telegram" ? ["mine"] : ["off"]),
      },
    });
    home.skill("tools/shared");
    home.skill("mine");
    home.skill("off");
    home.skill("mac", "platforms: [macos]\n");
    home.write("skills/.archive/old/SKILL.md", "---\nname: old\ndescription: x\n---\ny");
    const names = async (platform?: string) =>
      (await home.service.list(platform ? { platform } : {})).skills.map((skill) => `${skill.category}/${skill.name}`);
    expect(await names()).toEqual(["mine/mine", "tools/extra", "tools/shared"]);
    expect(await names("telegram")).toEqual(["off/off", "tools/extra", "tools/shared"]);
    const shared = (await home.service.list()).skills.find((skill) => skill.name === "shared");
    expect(shared?.root.kind).toBe("home");
  });

  it("follows linked folders once, also in a loop", async () => {
    const elsewhere = open();
    elsewhere.skill("linked/one");
    const home = open();
    symlinkSync(join(elsewhere.path, "skills", "linked"), join(home.path, "skills", "linked"));
    mkdirSync(join(home.path, "skills", "loop"));
    symlinkSync(join(home.path, "skills"), join(home.path, "skills", "loop", "again"));
    const { skills } = await home.service.list();
    expect(skills.map((skill) => skill.name)).toEqual(["one"]);
  });

  it("provides commands by normalised name", async () => {
    const home = open();
    home.write("skills/x/SKILL.md", "---\nname: My Great_Skill!\ndescription: d\n---\nb");
    expect([...(await home.service.commands()).keys()]).toEqual(["my-great-skill"]);
  });
});

describe("the index in the prompt", () => {
  it("groups by category, shortens descriptions, and respects the conversation's tools", async () => {
    const home = open();
    home.write("skills/data/DESCRIPTION.md", "---\ndescription: Tables\n---\n");
    home.skill("data/csv");
    home.write("skills/data/long/SKILL.md", `---\nname: long\ndescription: ${"word ".repeat(30)}\n---\nb`);
    home.skill("web/scrape", "metadata:\n  hermes:\n    requires_toolsets: [web]\n");
    home.skill("web/plan-b", "metadata:\n  hermes:\n    fallback_for_tools: [web_search]\n");
    const index = await home.service.index({ toolNames: ["terminal"], toolsets: ["terminal"] });
    expect(index).toContain("<available_skills>\n  data: Tables\n    - csv: About data/csv\n    - long: ");
    expect(index).toMatch(/- long: .{57}\.\.\.\n/);
    expect(index).toContain("plan-b");
    expect(index).not.toContain("scrape");
    const withWeb = await home.service.index({ toolNames: ["web_search"], toolsets: ["web"] });
    expect(withWeb).toContain("scrape");
    expect(withWeb).not.toContain("plan-b");
    expect(await home.service.index(NO_TOOLS)).toContain("scrape");
    expect(await open().service.index(NO_TOOLS)).toBe("");
  });

  it("is stored in a snapshot of version 1 that is used while no file changes", async () => {
    const home = open();
    const file = home.skill("data/csv");
    const first = await home.service.index(NO_TOOLS);
    const path = join(home.path, ".skills_prompt_snapshot.json");
    const text = readFileSync(path, "utf8");
    expect(JSON.parse(text)).toMatchObject({
      version: 1,
      skills: [{ skill_name: "csv", category: "data", frontmatter_name: "csv", platforms: [] }],
      category_descriptions: {},
    });
    expect(text).toMatch(/"data\/csv\/SKILL\.md": \[\d{19}, \d+\]/);
    writeFileSync(path, text.replace("About data/csv", "From the snapshot"));
    expect(await home.service.index(NO_TOOLS)).toContain("From the snapshot");
    utimesSync(file, new Date(), new Date(Date.now() + 5000));
    expect(await home.service.index(NO_TOOLS)).toBe(first);
    writeFileSync(path, "{ broken");
    expect(await home.service.index(NO_TOOLS)).toBe(first);
  });

  it.each([500, 1500])("stays under 1,500 tokens with %i skills, warm without reading them", async (count) => {
    const home = open();
    for (let n = 0; n < count; n++) home.skill(`category-${n % 12}/some-skill-with-a-name-${n}`);
    await home.service.index(NO_TOOLS);
    let index = "";
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 7; round++) {
      const started = performance.now();
      index = await home.service.index(NO_TOOLS);
      best = Math.min(best, performance.now() - started);
    }
    process.stdout.write(`skills: ${count} skills, warm index ${best.toFixed(1)} ms\n`);
    expect(estimateTextTokens(index)).toBeLessThanOrEqual(1500);
    expect(index).toContain("skills_list");
    expect(index).toContain("category-11");
  });
});

test("a query finds the right skill among many", async () => {
  const home = open();
  for (let n = 0; n < 200; n++) home.skill(`misc/filler-${n}`, "", "x\n");
  home.write(
    "skills/dev/git-commit/SKILL.md",
    "---\nname: git-commit\ndescription: Turn changes in a work tree into commits\n---\nb",
  );
  home.write(
    "skills/data/csv-profile/SKILL.md",
    "---\nname: csv-profile\ndescription: Columns and types of a table\n---\nb",
  );
  const { skills } = await home.service.list();
  const top = (query: string) =>
    searchSkills(skills, query)
      .slice(0, 3)
      .map((skill) => skill.name);
  expect(top("please commit my changes")).toContain("git-commit");
  expect(top("look at the columns of this CSV")[0]).toBe("csv-profile");
  expect(searchSkills(skills, "zzz")).toEqual([]);
});
