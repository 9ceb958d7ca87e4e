import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SubdirectoryHints } from "./subdirectory-hints.ts";

let root = "";
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "hints-"));
  await mkdir(join(root, "work", "pkg", "src"), { recursive: true });
  await mkdir(join(root, "other"));
  await writeFile(join(root, "work", "AGENTS.md"), "root rules");
  await writeFile(join(root, "work", "pkg", "AGENTS.md"), "pkg rules");
  await writeFile(join(root, "work", "pkg", "src", "CLAUDE.md"), "src rules");
  await writeFile(join(root, "other", "AGENTS.md"), "foreign rules");
});
afterEach(() => rm(root, { recursive: true, force: true }));

test("rules of a folder and its parents appear once, outermost first; the root's are in the prompt already", async () => {
  const hints = new SubdirectoryHints({ cwd: join(root, "work") });
  const text = await hints.forCall({ path: "pkg/src/main.ts" });
  expect(text).toMatch(
    /pkg\/AGENTS\.md\]\npkg rules\n\n\[Subdirectory context discovered: .*src\/CLAUDE\.md\]\nsrc rules$/,
  );
  expect(text).not.toContain("root rules");
  expect(await hints.forCall({ path: "pkg/src/other.ts" })).toBe("");
});

test("folders in shell commands are found too", async () => {
  const hints = new SubdirectoryHints({ cwd: join(root, "work") });
  expect(await hints.forCall({ command: "cat pkg/a.txt && ls https://example.test/pkg/src" })).toContain("pkg rules");
});

test("no hints come from outside the workspace, also not through a link", async () => {
  await symlink(join(root, "other"), join(root, "work", "link"));
  const hints = new SubdirectoryHints({ cwd: join(root, "work") });
  expect(await hints.forCall({ path: join(root, "other", "x.ts") })).toBe("");
  expect(await hints.forCall({ path: "link/x.ts" })).toBe("");
});

test("a hint is capped and scanned", async () => {
  await writeFile(join(root, "work", "pkg", "AGENTS.md"), "BAD ".repeat(5_000));
  const scan = (text: string) => ({ text: text.replaceAll("BAD", "***"), findings: [] });
  const text = await new SubdirectoryHints({ cwd: join(root, "work"), scan }).forCall({ workdir: "pkg" });
  expect(text.length).toBeLessThan(8_200);
  expect(text).not.toContain("BAD");
});
