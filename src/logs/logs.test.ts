// Log files: format, redaction, rotation by several writers, reading with filters, following over a rotation.
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { formatLogEntry, parseLogLine } from "../core/log.ts";
import { parseSince } from "./api.ts";
import { openLog } from "./log-writer.ts";
import { followLog, readLog } from "./read-log.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-logs-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const options = { level: "INFO", maxBytes: 1_000_000, keep: 3, redact: (text: string) => text } as const;

it("writes lines that can be read back, without secrets and control characters", async () => {
  const log = openLog({
    ...options,
    folder,
    name: "gateway",
    redact: (text) => text.replaceAll("sk-secret", "***"),
    now: () => new Date(2026, 10, 17, 9, 5, 7, 12),
  });
  log.write({ level: "DEBUG", component: "gateway", message: "not logged" });
  log.write({
    level: "ERROR",
    component: "gateway.telegram",
    sessionId: "20261117_090507_abcdef",
    message: "sign-in with sk-secret failed\n\u001b[2Jsecond line",
    fields: { status: 401, reason: "bad key" },
  });
  await log.flush();
  const text = readFileSync(join(folder, "gateway.log"), "utf8");
  expect(text).toBe(
    '2026-11-17 09:05:07,012 ERROR [20261117_090507_abcdef] gateway.telegram: sign-in with *** failed\n    \\x1b[2Jsecond line status=401 reason="bad key"\n',
  );
  expect(readFileSync(join(folder, "errors.log"), "utf8")).toBe(text);
  expect(statSync(join(folder, "errors.log")).mode & 0o777).toBe(0o600);
  const [record] = await readLog(join(folder, "gateway.log"), { level: "ERROR" }, 10);
  expect(record?.parsed).toMatchObject({
    level: "ERROR",
    component: "gateway.telegram",
    sessionId: "20261117_090507_abcdef",
  });
  expect(record?.text).toContain("second line");
});

it("keeps every line when two writers rotate the same file", async () => {
  const writers = [1, 2].map(() => openLog({ ...options, folder, name: "agent", maxBytes: 20_000, keep: 50 }));
  for (let round = 0; round < 40; round++) {
    for (const [index, log] of writers.entries())
      for (let line = 0; line < 10; line++)
        log.write({
          level: "INFO",
          component: "agent",
          message: `writer ${index} line ${round * 10 + line} ${"x".repeat(60)}`,
        });
    await Promise.all(writers.map((log) => log.flush()));
  }
  const names = readdirSync(folder).filter((name) => name.startsWith("agent.log"));
  expect(names.length).toBeGreaterThan(3);
  const lines = names.flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"));
  expect(new Set(lines.map((line) => /writer \d line \d+/.exec(line)?.[0])).size).toBe(800);
  const last = await readLog(join(folder, "agent.log"), {}, 600);
  expect(last).toHaveLength(600);
});

it("deletes no more than the oldest file, and keeps one file when backups are off", async () => {
  const log = openLog({ ...options, folder, name: "agent", maxBytes: 1_000, keep: 2 });
  for (let line = 0; line < 100; line++) {
    log.write({ level: "INFO", component: "agent", message: "x".repeat(100) });
    await log.flush();
  }
  expect(readdirSync(folder).sort()).toEqual(["agent.log", "agent.log.1", "agent.log.2"]);
});

it("reads the entries of v0.14 and of earlier versions, and filters them", async () => {
  const path = join(folder, "agent.log");
  writeFileSync(
    path,
    [
      "2026-11-17 08:00:00,001 INFO hermes_cli.main: started",
      "2026-11-17 08:00:01,001 WARNING [20261117_080000_aaaaaa] run_agent: slow",
      "Traceback (most recent call last):",
      '  File "x.py", line 1',
      "2026-11-17T09:00:00.000Z error telegram: lost",
      "",
    ].join("\n"),
  );
  expect((await readLog(path, { component: "agent" }, 9)).map((record) => record.parsed?.message)).toEqual(["slow"]);
  expect((await readLog(path, { component: "cli" }, 9)).map((record) => record.parsed?.message)).toEqual(["started"]);
  expect((await readLog(path, { level: "ERROR" }, 9)).map((record) => record.parsed?.message)).toEqual(["lost"]);
  expect(await readLog(path, { sessionId: "20261117_08" }, 9)).toHaveLength(1);
  expect(await readLog(path, { since: new Date(2026, 10, 17, 8, 0, 1).getTime(), component: "agent" }, 9)).toHaveLength(
    1,
  );
  expect(await readLog(path, {}, 2)).toHaveLength(2);
});

it("follows a file over a rotation", async () => {
  const path = join(folder, "agent.log");
  const line = (text: string) =>
    `${formatLogEntry({ level: "INFO", component: "agent", message: text }, new Date())}\n`;
  writeFileSync(path, line("old"));
  const stop = new AbortController();
  const seen: string[] = [];
  const following = (async () => {
    for await (const record of followLog(path, {}, stop.signal)) {
      seen.push(record.parsed?.message ?? "");
      if (record.parsed?.message === "first") {
        renameSync(path, `${path}.1`);
        writeFileSync(path, line("second"));
      } else stop.abort();
    }
  })();
  await new Promise((resolve) => setTimeout(resolve, 50));
  appendFileSync(path, line("first"));
  await following;
  expect(seen).toEqual(["first", "second"]);
});

it("understands times", () => {
  const now = Date.UTC(2026, 10, 17, 12);
  expect(parseSince("90s", now)).toBe(now - 90_000);
  expect(parseSince("2H", now)).toBe(now - 7_200_000);
  expect(parseSince("2026-11-17", now)).toBe(new Date(2026, 10, 17).getTime());
  expect(parseSince("yesterday", now)).toBeUndefined();
  expect(parseLogLine("just words")).toBeUndefined();
});
