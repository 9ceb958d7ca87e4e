import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readPrefill } from "./prefill.ts";

let home = "";
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "prefill-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const GOOD = [
  { role: "user", content: "2+2?" },
  { role: "assistant", content: "4" },
];

test("the messages of a file, by a path in the home or an absolute one", async () => {
  await writeFile(join(home, "examples.json"), `\ufeff${JSON.stringify(GOOD)}`);
  expect(await readPrefill("examples.json", home)).toEqual({ messages: GOOD });
  expect(await readPrefill(join(home, "examples.json"), "/nowhere")).toEqual({ messages: GOOD });
  expect(await readPrefill("", home)).toEqual({ messages: [] });
});

test.each([
  ["{", /JSON/],
  ['{"role":"user","content":"x"}', /expected a JSON list/],
  ['[{"role":"user","content":"x"},{"role":"system","content":"x"}]', /entry 2 is wrong/],
  ['[{"role":"user","content":7}]', /entry 1 is wrong/],
])("a wrong file %s is not used, with the reason", async (text, reason) => {
  await writeFile(join(home, "p.json"), text);
  const { messages, problem } = await readPrefill("p.json", home);
  expect(messages).toEqual([]);
  expect(problem).toMatch(reason);
  expect(problem).toContain(join(home, "p.json"));
});

test("a missing file is named", async () => {
  expect((await readPrefill("gone.json", home)).problem).toMatch(/gone\.json: no such file/);
});
