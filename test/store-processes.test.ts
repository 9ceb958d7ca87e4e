// Several processes on one file: killed writers lose no acknowledged row; eight writers all succeed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase } from "../src/store/sqlite/connection/driver.ts";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { bundle } from "./kit/bundle.ts";
import { fullProof } from "./kit/full-proof.ts";
import { tempDir } from "./kit/temp-dir.ts";

const KILLS = fullProof ? 200 : 60;

let child: string;
let dir: string;

beforeAll(async () => {
  child = await bundle("test/children/store-child.ts");
  dir = tempDir("hermes-processes-");
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Running {
  readonly process: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<unknown>;
}

function run(mode: string, path: string, session = "", count = 0): Running {
  const started = spawn(process.execPath, [child, mode, path, session, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  started.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { process: started, output: () => text, ended: once(started, "close") };
}

/** `id n` lines of whole acknowledgements. */
function acknowledged(running: Running): { id: number; n: number }[] {
  const lines = running.output().split("\n").slice(0, -1);
  return lines.map((line) => {
    const [id, n] = line.split(" ").map(Number);
    return { id: id ?? 0, n: n ?? 0 };
  });
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

it("keeps every acknowledged row when writers are killed while others write and read", {
  timeout: 120_000,
}, async () => {
  const path = join(dir, "crash.db");
  await (await SqliteSessionStore.open({ path })).close();
  const steady = [run("append", path, "steady-1", 1_000_000), run("append", path, "steady-2", 1_000_000)];
  const reader = run("read", path);
  const said = new Map<string, { id: number; n: number }[]>();
  let kills = 0;
  const lane = async (name: number) => {
    for (; kills < KILLS; ) {
      const session = `victim-${name}-${kills++}`;
      const victim = run("append", path, session, 1_000_000);
      // Some are killed while they open the file, most while they write.
      if (Math.random() < 0.9) await Promise.race([once(victim.process.stdout!, "data"), victim.ended]);
      await pause(Math.random() * 40);
      victim.process.kill("SIGKILL");
      await victim.ended;
      said.set(session, acknowledged(victim));
    }
  };
  await Promise.all([lane(1), lane(2), lane(3)]);
  reader.process.kill("SIGTERM");
  await reader.ended;
  expect(reader.output()).toMatch(/^rounds [1-9]/);
  for (const [index, writer] of steady.entries()) {
    writer.process.kill("SIGKILL");
    await writer.ended;
    said.set(`steady-${index + 1}`, acknowledged(writer));
  }

  const db = openDatabase(path);
  expect(db.pragma("integrity_check")).toBe("ok");
  expect(db.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
  const stored = db.prepare<{ id: number; content: string }>(
    "SELECT id, content FROM messages WHERE session_id = ? ORDER BY id",
  );
  let total = 0;
  for (const [session, rows] of said) {
    const numbers = stored.all(session).map((row) => ({ id: row.id, n: Number(row.content.split(" ")[2]) }));
    expect(numbers.slice(0, rows.length)).toEqual(rows);
    // A row after the last acknowledgement was committed but not printed yet.
    expect(numbers.length - rows.length).toBeLessThanOrEqual(1);
    expect(numbers.map(({ n }) => n)).toEqual(numbers.map((_, index) => index));
    total += rows.length;
  }
  expect(
    db
      .prepare(
        "SELECT count(*) AS n FROM sessions s WHERE message_count <> (SELECT count(*) FROM messages m WHERE m.session_id = s.id)",
      )
      .get(),
  ).toEqual({ n: 0 });
  expect(db.prepare("SELECT count(*) AS n FROM messages").get()).toEqual(
    db.prepare("SELECT count(*) AS n FROM messages_fts_docsize").get(),
  );
  db.close();
  process.stdout.write(`killed ${kills} writers; ${total} acknowledged rows, all there\n`);
  expect(kills).toBeGreaterThanOrEqual(KILLS);
});

it("allows eight processes to append a thousand rows each", { timeout: 120_000 }, async () => {
  const path = join(dir, "load.db");
  const writers = Array.from({ length: 8 }, (_, n) => run("time", path, `writer-${n}`, 1000));
  await Promise.all(writers.map((writer) => writer.ended));
  const results = writers.map((writer) => JSON.parse(writer.output()) as { took: number[]; failures: number });
  const took = results.flatMap((result) => result.took).sort((a, b) => a - b);
  const at = (share: number) => (took[Math.floor((took.length - 1) * share)] ?? 0).toFixed(1);
  process.stdout.write(`8 × 1000 appends: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms\n`);
  expect(results.map((result) => result.failures)).toEqual(Array(8).fill(0));
  const db = openDatabase(path);
  expect(db.prepare("SELECT count(*) AS n, count(DISTINCT content) AS different FROM messages").get()).toEqual({
    n: 8000,
    different: 8000,
  });
  expect(db.pragma("integrity_check")).toBe("ok");
  db.close();
});
