// `hermes status`, `dump`, `debug share`, `insights`, `version`, `help`, `logs` and piped input, on one home.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { tempHome } from "./kit/temp-home.ts";
import { type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

const home = tempHome();
const SECRET = "lab-0123456789abcdefghijklmnop";
let llm: FakeLlm;
beforeAll(async () => {
  llm = await startFakeLlm({ script: (request) => text(`You said: ${String(request.messages.at(-1)?.text)}`) });
  home.useModel(llm, "timezone: Asia/Tokyo\n");
  writeFileSync(join(home.path, ".env"), `LAB_API_KEY=${SECRET}\n`, { mode: 0o600 });
  mkdirSync(join(home.path, "logs"));
  writeFileSync(join(home.path, "logs", "errors.log"), `2026-11-17 09:00:00,000 ERROR gateway: refused ${SECRET}\n`);
});
afterAll(async () => {
  await llm.close();
  home.remove();
});

const hermes = (args: string[], stdin?: string) =>
  runHermes(args, { home: home.path, ...(stdin === undefined ? {} : { stdin }) });

it("a pipe is part of the question, its references are not followed, and too much is refused", async () => {
  writeFileSync(join(home.path, "notes.txt"), "private");
  const run = await hermes(["-z", "summarise"], "first @file:notes.txt\nsecond\n");
  expect(run.stdout).toBe("You said: summarise\n\n<stdin>\nfirst @file:notes.txt\nsecond\n</stdin>\n");
  const large = await hermes(["-z", "summarise"], "x".repeat(1_200_000));
  expect([large.code, large.stdout, large.stderr]).toEqual([2, "", expect.stringContaining("Nothing was sent")]);
});

it("status and insights show what there is", async () => {
  const status = await hermes(["status"]);
  expect(status.code).toBe(0);
  expect(status.stdout).toMatch(/Model +test-model \(custom\), window 128,000/);
  expect(status.stdout).toMatch(/Sessions +1 with \d+ messages/);
  const insights = await hermes(["insights", "--days", "7"]);
  expect(insights.stdout).toMatch(/Last 7 days: 1 sessions?, \d+ model calls/);
  expect(JSON.parse((await hermes(["insights", "--source", "telegram", "--json"])).stdout)).toMatchObject({
    sessions: 0,
  });
});

it("reports hold no secrets and are not uploaded", async () => {
  const dump = await hermes(["dump"]);
  expect(dump.stdout).toContain('timezone = "Asia/Tokyo"');
  expect(dump.stdout).toContain("LAB_API_KEY");
  const refused = await hermes(["debug", "share"]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--local")]);
  const made = await hermes(["debug", "share", "--local"]);
  const file = made.stdout.trim();
  expect(existsSync(file)).toBe(true);
  const report = readFileSync(file, "utf8");
  expect(report).toContain("gateway: refused");
  expect(`${dump.stdout}${report}`).not.toContain(SECRET);
  rmSync(file);
  expect(readdirSync(home.path)).not.toContain("hermes-debug");
});

it("logs, version and help answer", async () => {
  expect((await hermes(["logs", "errors", "--level", "error"])).stdout).toContain("ERROR gateway: refused");
  const wrong = await hermes(["logs", "erors"]);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('did you mean "errors"')]);
  expect((await hermes(["version"])).stdout).toMatch(/^hermes \d+\.\d+\.\d+\nNode +v/);
  expect((await hermes(["help"])).stdout).toContain("Usage: hermes [options] [command]");
  expect((await hermes(["help", "sessions", "export"])).stdout).toContain("Usage: hermes sessions export");
});
