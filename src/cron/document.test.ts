// Documents of runs: how many are kept, and what another job sees of the newest one.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import type { Job } from "../core/job.ts";
import { newestDocument, writeDocument } from "./document.ts";
import { readJob } from "./job-record.ts";

let folder: string;
beforeEach(() => {
  folder = tempDir("hermes-documents-");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const job = readJob({ id: "a1b2c3d4e5f6", name: "Look", prompt: "Look" }) as Job;
const at = (minute: number) => Date.UTC(2026, 4, 4, 9, minute);
const write = (minute: number, keep: number, text: { prompt?: string; response: string }) =>
  writeDocument({ path: folder, keep }, job, { at: at(minute), zone: "UTC", ...text });

it("keeps the newest documents of a job, and files that runs did not write", async () => {
  mkdirSync(join(folder, job.id));
  writeFileSync(join(folder, job.id, "0-notes.md"), "mine");
  for (const minute of [0, 1, 2, 2, 3]) await write(minute, 3, { response: `at ${minute}` });
  expect(readdirSync(join(folder, job.id)).sort()).toEqual([
    "0-notes.md",
    "2026-05-04_09-02-00.md",
    "2026-05-04_09-02-00_2.md",
    "2026-05-04_09-03-00.md",
  ]);
  await write(4, 0, { response: "all stay" });
  expect(readdirSync(join(folder, job.id))).toHaveLength(5);
});

it("shows a short document completely, and a long one without its prompt", async () => {
  await write(0, 0, { prompt: "The task", response: "The result" });
  expect(await newestDocument(folder, job.id)).toMatch(/The task[\s\S]*The result/);
  const nested = `${"long ".repeat(2000)}\n\n## Response\n\nof another job`;
  await write(1, 0, { prompt: nested, response: "The result" });
  const seen = await newestDocument(folder, job.id);
  expect(seen).toContain("**Job ID:** a1b2c3d4e5f6");
  expect(seen).toContain("## Response\n\nThe result");
  expect(seen).not.toContain("of another job");
  await write(2, 0, { prompt: "The task", response: "r".repeat(9000) });
  expect(await newestDocument(folder, job.id)).toMatch(/r{7000,}\n… \(cut\)$/);
});
