import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkFiles, pathMistake, type RawEntry, skillFolder } from "./bundle.ts";
import { HubRefusal, LIMITS } from "./refusal.ts";

const file = (path: string, text = "x"): RawEntry => ({ path, kind: "file", bytes: Buffer.from(text) });

describe("untrusted paths", () => {
  test.each([
    "/etc/passwd",
    "../escape",
    "a/../../b",
    "..\\..\\evil",
    "C:\\Windows\\x",
    "C:evil",
    "a//b",
    "a/./b",
    "",
    "nul.txt",
    "a/CON",
    "name.",
    "name ",
    "a\u202eb.md",
    "zero\u200bwidth.md",
    "tab\tname",
    "line\nbreak",
    "null\0byte",
    "stream.md:hidden",
    ".git/hooks/pre-commit",
    "cafe\u0301.md",
    "a/".repeat(20).concat("b"),
    "x".repeat(300),
  ])("%j is refused", (path) => {
    expect(() => checkFiles([file(path)])).toThrow(HubRefusal);
  });

  test.each([
    "SKILL.md",
    "./SKILL.md",
    "references/a b.md",
    "scripts\\run.py",
    "assets/café.png",
    "références/日本語.md",
  ])("%j is accepted", (path) => {
    expect(checkFiles([file(path)])).toHaveLength(1);
  });

  test("an accepted path stays below any folder that it is joined to", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 40 }), (path) => {
        if (pathMistake(path) !== undefined) return;
        const { pathname } = new URL(`file:///root/${path.split("/").map(encodeURIComponent).join("/")}`);
        expect(pathname.startsWith("/root/")).toBe(true);
        expect(path.split("/")).not.toContain("..");
      }),
    );
  });
});

describe("a set of files", () => {
  test.each([
    ["links", [{ ...file("a"), kind: "link" as const }]],
    ["devices", [{ ...file("a"), kind: "special" as const }]],
    ["duplicates", [file("a.md"), file("a.md")]],
    ["names that differ by letter case", [file("Skill.md"), file("SKILL.md")]],
    ["folders that differ by letter case", [file("Scripts/a"), file("scripts/b")]],
    ["a path that is both a file and a folder", [file("a"), file("a/b")]],
    ["too many files", Array.from({ length: LIMITS.files + 1 }, (_, index) => file(`f${index}`))],
    ["a huge file", [file("a", "x".repeat(LIMITS.file + 1))]],
    [
      "files that are too large in total",
      Array.from({ length: 5 }, (_, index) => file(`f${index}`, "x".repeat(LIMITS.file))),
    ],
  ])("%s are refused", (_, entries) => {
    expect(() => checkFiles(entries)).toThrow(HubRefusal);
  });

  test("the skill is the topmost folder; with several, one must be specified", () => {
    const one = checkFiles([file("pack-1.0/SKILL.md"), file("pack-1.0/scripts/a.sh"), file("other.txt")]);
    expect(skillFolder(one).map(({ path }) => path)).toEqual(["SKILL.md", "scripts/a.sh"]);
    const two = checkFiles([file("p/a/SKILL.md"), file("p/b/SKILL.md")]);
    expect(() => skillFolder(two)).toThrow(/several skills in it: p\/a, p\/b/);
    expect(skillFolder(two, "p/b")).toHaveLength(1);
    expect(() => skillFolder(two, "p/c")).toThrow(HubRefusal);
  });
});
