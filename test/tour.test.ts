// The steps of docs/tour.md: find a bug in a small repository, patch it, run its tests, report.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

let home: TempHome;
let llm: FakeLlm;
let project: string;

const SUM = `export function total(prices) {
  let sum = 0;
  for (let index = 1; index < prices.length; index++) sum += prices[index];
  return sum;
}
`;

const TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "./total.mjs";

test("adds every price", () => assert.equal(total([1, 2, 3]), 6));
test("an empty basket costs nothing", () => assert.equal(total([]), 0));
`;

beforeEach(async () => {
  home = tempHome();
  project = join(home.path, "shop");
  mkdirSync(project);
  writeFileSync(join(project, "total.mjs"), SUM);
  writeFileSync(join(project, "total.test.mjs"), TEST);
  llm = await startFakeLlm();
  home.useModel(llm);
});

afterEach(async () => {
  await llm.close();
  home.remove();
});

it("finds the bug, patches it, proves the fix and reports", async () => {
  llm.enqueue(
    calls([{ name: "terminal", args: { command: "node --test" } }]),
    calls([
      { name: "search_files", args: { pattern: "total", file_glob: "*.mjs" } },
      { name: "read_file", args: { path: "total.mjs" } },
    ]),
    calls([{ name: "patch", args: { path: "total.mjs", old_string: "let index = 1;", new_string: "let index = 0;" } }]),
    calls([{ name: "terminal", args: { command: "node --test" } }]),
    text("The loop in total.mjs began at 1 and left out the first price. It begins at 0 now; both tests pass."),
    text("Fix the basket total"),
  );
  const run = await runHermes(["chat", "-q", "The totals are wrong. Find out why and fix it."], {
    home: home.path,
    cwd: project,
  });
  expect(run.code).toBe(0);
  expect(run.stdout).toContain("both tests pass");
  for (const tool of ["terminal", "search_files", "read_file", "patch"]) expect(run.stderr).toContain(tool);
  expect(readFileSync(join(project, "total.mjs"), "utf8")).toContain("let index = 0;");
  const results = llm.requests.flatMap((request) => request.messages).map((message) => JSON.stringify(message));
  expect(results.some((message) => message.includes("fail 1"))).toBe(true);
  expect(results.some((message) => message.includes("pass 2"))).toBe(true);
  const shown = await runHermes(["sessions", "show", "Fix the basket total"], { home: home.path });
  expect(shown.stdout).toContain("→ patch");
});
