// Reads and writes jobs.json as other programs write it.
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { UserError } from "../core/failure.ts";
import { JobFile } from "./job-file.ts";

let dir: string;
let path: string;
let file: JobFile;

beforeEach(() => {
  dir = tempDir("hermes-jobs-");
  path = join(dir, "jobs.json");
  file = new JobFile(dir, () => "UTC");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A job as Hermes v0.14 stores it, with an unknown field. */
const FOREIGN = {
  id: "a1b2c3d4e5f6",
  name: "Daily briefing",
  prompt: "Summarize today's AI news and funding rounds",
  skills: ["ai-funding-daily-report"],
  skill: "ai-funding-daily-report",
  model: null,
  provider: null,
  base_url: null,
  script: null,
  no_agent: false,
  context_from: null,
  schedule: { kind: "cron", expr: "0 9 * * *", display: "0 9 * * *" },
  schedule_display: "0 9 * * *",
  repeat: { times: null, completed: 42 },
  enabled: true,
  state: "scheduled",
  paused_at: null,
  paused_reason: null,
  created_at: "2025-01-01T00:00:00.123456+00:00",
  next_run_at: "2025-01-16T09:00:00Z",
  last_run_at: "2025-01-15T09:00:00Z",
  last_status: "ok",
  last_error: null,
  last_delivery_error: null,
  deliver: "telegram:-1001234567890",
  origin: { platform: "telegram", chat_id: "-1001234567890", chat_name: "News", thread_id: null },
  enabled_toolsets: null,
  workdir: null,
  from_the_future: { kept: true },
};

describe("a file that v0.14 wrote", () => {
  it("is written back with every field", async () => {
    writeFileSync(path, JSON.stringify({ jobs: [FOREIGN], updated_at: "2025-01-15T09:00:01+00:00", other: 1 }));
    expect(await file.list()).toEqual([FOREIGN]);
    await file.edit(FOREIGN.id, (job) => ({ ...job, state: "running" }));
    const written = JSON.parse(readFileSync(path, "utf8"));
    expect(written.jobs).toEqual([{ ...FOREIGN, state: "running" }]);
    expect(written.other).toBe(1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("may have older formats: one skill, a list of targets, no state", async () => {
    const old = {
      id: "0123456789ab",
      prompt: "x",
      skill: "weather",
      deliver: ["local", "telegram"],
      schedule: FOREIGN.schedule,
    };
    writeFileSync(path, JSON.stringify({ jobs: [old] }));
    const [job] = await file.list();
    expect(job).toMatchObject({
      name: "x",
      skills: ["weather"],
      skill: "weather",
      deliver: "local,telegram",
      state: "scheduled",
      enabled: true,
      repeat: { times: null, completed: 0 },
    });
  });

  it("may have raw control characters, which a change repairs", async () => {
    const text = JSON.stringify({ jobs: [{ ...FOREIGN, prompt: "a|b" }] }).replace("a|b", 'a\n\tb "c" \\\\');
    const raw = text.replace(' "c" ', ' \\"c\\" ');
    writeFileSync(path, raw);
    expect((await file.list())[0]?.prompt).toBe('a\n\tb "c" \\');
    expect(readFileSync(path, "utf8")).toBe(raw);
    await file.edit(FOREIGN.id, (job) => ({ ...job, name: "New" }));
    expect(JSON.parse(readFileSync(path, "utf8")).jobs[0].prompt).toBe('a\n\tb "c" \\');
  });

  it("keeps entries that are not jobs", async () => {
    const strange = [{ id: "../../etc", prompt: "x" }, "text", null];
    writeFileSync(path, JSON.stringify({ jobs: [...strange, FOREIGN] }));
    expect(await file.list()).toHaveLength(1);
    await file.edit(FOREIGN.id, (job) => ({ ...job, name: "New" }));
    const { jobs } = JSON.parse(readFileSync(path, "utf8"));
    for (const entry of strange) expect(jobs).toContainEqual(entry);
  });
});

it.each(["", "{", "[]", '{"jobs": {}}', "null", '{"jobs": [}'])("does not change a damaged file: %j", async (text) => {
  writeFileSync(path, text);
  const reading = file.list();
  await expect(reading).rejects.toThrow(UserError);
  await expect(reading).rejects.toThrow(path);
  await expect(file.change(async () => ({ jobs: [], result: undefined }))).rejects.toThrow(path);
  expect(readFileSync(path, "utf8")).toBe(text);
});

it("starts with an empty list", async () => {
  expect(await file.list()).toEqual([]);
});

it("loses no change of concurrent writers", async () => {
  writeFileSync(path, JSON.stringify({ jobs: [FOREIGN] }));
  const count = (times: number) =>
    file.edit(FOREIGN.id, (job) => ({ ...job, repeat: { ...job.repeat, completed: job.repeat.completed + times } }));
  await Promise.all(Array.from({ length: 10 }, () => count(1)));
  expect((await file.list())[0]?.repeat.completed).toBe(52);
});
