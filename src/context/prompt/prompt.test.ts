import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Scan } from "../../core/scan.ts";
import { readProjectFiles } from "./project-files.ts";
import { buildSystemPrompt, type PromptInput } from "./prompt.ts";

let home = "";
let cwd = "";
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "prompt-home-"));
  cwd = await mkdtemp(join(tmpdir(), "prompt-cwd-"));
});
afterEach(async () => {
  await rm(home, { recursive: true, force: true });
  await rm(cwd, { recursive: true, force: true });
});

const TOOLS = [
  "memory",
  "session_search",
  "recall_context",
  "skills_list",
  "skill_manage",
  "todo",
  "delegate_task",
  "read_file",
];
const input = (more: Partial<PromptInput> = {}): PromptInput => ({
  home,
  toolNames: TOOLS,
  environment: { os: "Linux", cwd, shell: "/bin/bash" },
  now: new Date("2026-03-04T05:06:07Z"),
  timeZone: "UTC",
  ...more,
});

test("the built-in text is small and reported by part", async () => {
  const prompt = await buildSystemPrompt(input());
  const total = prompt.parts.reduce((sum, part) => sum + part.tokens, 0);
  expect(total).toBeLessThan(700);
  expect(prompt.parts.map((part) => part.name)).toEqual(["identity", "guidance", "environment", "date"]);
});

test("guidance speaks only of tools that are present", async () => {
  const prompt = await buildSystemPrompt(input({ toolNames: ["todo"] }));
  expect(prompt.text).toContain("todo");
  expect(prompt.text).not.toContain("session_search");
  expect((await buildSystemPrompt(input({ toolNames: [] }))).parts.map((part) => part.name)).not.toContain("guidance");
});

test("SOUL.md is the identity, unless it is blank or completely quarantined", async () => {
  await writeFile(join(home, "SOUL.md"), "You are Iris, a gardener.");
  expect((await buildSystemPrompt(input())).text.startsWith("You are Iris, a gardener.")).toBe(true);
  await writeFile(join(home, "SOUL.md"), " \n");
  expect((await buildSystemPrompt(input())).text.startsWith("You are Hermes")).toBe(true);
  await writeFile(join(home, "SOUL.md"), "obey me");
  const scan: Scan = () => ({ text: "[quarantined: x]", findings: [{ rule: "x", severity: "high" }] });
  expect((await buildSystemPrompt(input({ scan }))).text.startsWith("You are Hermes")).toBe(true);
});

test("project files: the first kind wins, up to the repository root for our own name", async () => {
  const sub = join(cwd, "a", "b");
  await mkdir(join(cwd, ".git"));
  await mkdir(join(sub, ".cursor", "rules"), { recursive: true });
  const names = async () => (await readProjectFiles(sub)).map((file) => file.name);
  expect(await names()).toEqual([]);
  await writeFile(join(sub, ".cursor", "rules", "z.mdc"), "z");
  await writeFile(join(sub, ".cursor", "rules", "a.mdc"), "a");
  await writeFile(join(sub, ".cursorrules"), "c");
  expect(await names()).toEqual([".cursorrules", ".cursor/rules/a.mdc", ".cursor/rules/z.mdc"]);
  await writeFile(join(sub, "CLAUDE.md"), "c");
  expect(await names()).toEqual(["CLAUDE.md"]);
  await writeFile(join(sub, "AGENTS.md"), "a");
  expect(await names()).toEqual(["AGENTS.md"]);
  await writeFile(join(cwd, "HERMES.md"), "---\nx: 1\n---\nroot rules");
  expect(await readProjectFiles(sub)).toEqual([{ name: "HERMES.md", text: "root rules" }]);
});

test("a long project file keeps head and tail and says so; suspicious spans are quarantined, the rest stays", async () => {
  await writeFile(join(cwd, "AGENTS.md"), `HEAD ${"x".repeat(30_000)} TAIL`);
  const [file] = await readProjectFiles(cwd);
  expect(file?.text.length).toBeLessThan(20_000);
  expect(file?.text).toMatch(/^HEAD .*\[\.\.\.truncated AGENTS\.md: kept 14000\+4000 of 30010 chars.* TAIL$/s);
  await writeFile(join(cwd, "AGENTS.md"), "Use tabs. EVIL. Run tests.");
  const scan: Scan = (text) => ({ text: text.replace("EVIL.", "[quarantined]"), findings: [] });
  expect((await readProjectFiles(cwd, scan))[0]?.text).toBe("Use tabs. [quarantined] Run tests.");
});

test("the date has day precision and the user's time zone", async () => {
  const morning = await buildSystemPrompt(input());
  const evening = await buildSystemPrompt(input({ now: new Date("2026-03-04T22:00:00Z") }));
  expect(evening.text).toBe(morning.text);
  expect(morning.text).toContain("Wednesday, March 4, 2026");
  expect(
    (await buildSystemPrompt(input({ now: new Date("2026-03-04T22:00:00Z"), timeZone: "Asia/Bangkok" }))).text,
  ).toContain("March 5");
});
