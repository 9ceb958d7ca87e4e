import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { expandReferences, type ReferenceOptions } from "./references.ts";

let root = "";
let options: ReferenceOptions;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "references-"));
  const cwd = join(root, "home", "work");
  await mkdir(cwd, { recursive: true });
  options = { cwd, userHome: join(root, "home"), hermesHome: join(root, "home", ".hermes"), contextLength: 100_000 };
});
afterEach(() => rm(root, { recursive: true, force: true }));

test("files and line ranges are attached below the message; punctuation is not part of a path", async () => {
  await writeFile(join(options.cwd, "a.txt"), "one\ntwo\nthree\nfour\n");
  const whole = await expandReferences("look at @file:a.txt.", options);
  expect(whole.text).toBe("look at @file:a.txt.\n\n--- Attached Context ---\n\n[file a.txt]\none\ntwo\nthree\nfour");
  const lines = await expandReferences("(@file:a.txt:2-3)", options);
  expect(lines.text).toContain("[file a.txt, lines 2-3]\ntwo\nthree");
  expect(lines.warnings).toEqual([]);
});

test("names with blanks in quotation marks, sessions and skills are attached", async () => {
  await writeFile(join(options.cwd, "my plan.txt"), "one\ntwo\n");
  const stored = {
    sessionText: async (id: string) => `messages of ${id}`,
    skillText: async (name: string) => `instructions of ${name}`,
  };
  const { text, warnings } = await expandReferences(
    'read @file:"my plan.txt":2-2, @session:20261117_a and @skill:meeting-notes.',
    { ...options, ...stored },
  );
  expect(warnings).toEqual([]);
  expect(text).toContain("[file my plan.txt, lines 2-2]\ntwo");
  expect(text).toContain("[session 20261117_a]\nmessages of 20261117_a");
  expect(text).toContain("[skill meeting-notes]\ninstructions of meeting-notes");
});

test("mail addresses and plain words are not changed", async () => {
  expect((await expandReferences("mail bob@file:x or @someone", options)).text).toBe("mail bob@file:x or @someone");
});

test("credentials, start-up files, foreign folders, links to them and binaries are refused with a reason", async () => {
  const home = options.userHome;
  await mkdir(join(home, ".ssh"));
  await writeFile(join(home, ".ssh", "config"), "secret");
  await writeFile(join(home, ".bashrc"), "secret");
  await mkdir(options.hermesHome);
  await writeFile(join(options.hermesHome, ".env"), "secret");
  await writeFile(join(root, "outside.txt"), "secret");
  await symlink(join(home, ".ssh", "config"), join(options.cwd, "innocent.txt"));
  await writeFile(join(options.cwd, "bin"), Buffer.from([1, 0, 2]));
  const paths = [
    "~/.ssh/config",
    "~/.bashrc",
    "~/.hermes/.env",
    "../../outside.txt",
    "innocent.txt",
    "bin",
    "missing.txt",
  ];
  for (const path of paths) {
    const result = await expandReferences(`@file:${path}`, options);
    expect(result.text).toBe(`@file:${path}`);
    expect(result.warnings).toHaveLength(1);
  }
});

test("folders list at most 200 entries", async () => {
  await mkdir(join(options.cwd, "many"));
  for (let index = 0; index < 210; index++) await writeFile(join(options.cwd, "many", `f${index}`), "");
  const { text } = await expandReferences("@folder:many", options);
  expect(text.match(/^f\d+$/gm)).toHaveLength(200);
  expect(text).toContain("[only the first 200 entries]");
});

test("diff, staged and log come from git", async () => {
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.test", ...args], { cwd: options.cwd });
  git("init", "-q");
  await writeFile(join(options.cwd, "a"), "1\n");
  git("add", "a");
  git("commit", "-qm", "first commit");
  await writeFile(join(options.cwd, "a"), "2\n");
  git("add", "a");
  await writeFile(join(options.cwd, "a"), "3\n");
  const { text, warnings } = await expandReferences("@diff @staged @git:1 @git:11", options);
  expect(text).toContain("-2\n+3");
  expect(text).toContain("-1\n+2");
  expect(text).toContain("first commit");
  expect(warnings).toEqual([expect.stringContaining("1 to 10")]);
});

test("pages come from the given fetch and are marked as untrusted", async () => {
  const fetchText = async (url: string) => `page of ${url}`;
  const result = await expandReferences("see @url:https://example.test/x, please", { ...options, fetchText });
  expect(result.text).toContain("page of https://example.test/x");
  expect(result.untrusted).toBe(true);
  expect((await expandReferences("@url:https://example.test", options)).warnings).toHaveLength(1);
});

test("a quarter of the window warns, half leaves the message as typed", async () => {
  await writeFile(join(options.cwd, "big"), "x".repeat(4_000));
  const soft = await expandReferences("@file:big", { ...options, contextLength: 3_000 });
  expect(soft.text).toContain("--- Attached Context ---");
  expect(soft.warnings).toHaveLength(1);
  const hard = await expandReferences("@file:big", { ...options, contextLength: 1_500 });
  expect(hard.text).toBe("@file:big");
  expect(hard.warnings[0]).toContain("left as typed");
});
