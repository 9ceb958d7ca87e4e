// Bench: the conversation screen in a real terminal: start, keys, streaming, resuming, idling.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type IPty, spawn } from "@lydell/node-pty";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { tempDir } from "../test/kit/temp-dir.ts";
import { drip, type FakeLlm, startFakeLlm, text } from "../test/servers/fake-llm.ts";
import { type Line, printTable } from "./table.ts";

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: "20000" },
    keys: { type: "string", default: "200" },
    runs: { type: "string", default: "5" },
  },
});
const root = process.env.HERMES_ROOT ?? process.cwd();
const program = join(root, "bin", "hermes");
const keys = Number(values.keys);
const runs = Number(values.runs);
const TICK_MS = 10;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** CPU time of a process in milliseconds, with a resolution of ten. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

class Opened {
  readonly child: IPty;
  written = "";
  readonly #waiting: { text: string; from: number; done: () => void }[] = [];

  constructor(command: readonly string[], home: string) {
    const [file = "", ...args] = command;
    const env = { PATH: process.env.PATH ?? "", HOME: home, HERMES_HOME: home, TERM: "xterm-256color" };
    this.child = spawn(file, args, { cols: 120, rows: 40, cwd: home, env });
    this.child.onData((data) => {
      this.written += data;
      for (const waiting of [...this.#waiting])
        if (this.written.indexOf(waiting.text, waiting.from) >= 0) {
          this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
          waiting.done();
        }
    });
  }

  /** Resolves when the text appears in what is written from now on, or after `from`. */
  shows(wanted: string, from = this.written.length): Promise<void> {
    if (this.written.indexOf(wanted, from) >= 0) return Promise.resolve();
    return new Promise((done) => this.#waiting.push({ text: wanted, from, done }));
  }

  /** Time until a key is on the screen. */
  async echo(key: string): Promise<number> {
    const began = performance.now();
    const shown = this.shows(key);
    this.child.write(key);
    await shown;
    return performance.now() - began;
  }

  async close(): Promise<void> {
    const exited = new Promise((resolve) => this.child.onExit(resolve));
    this.child.kill("SIGKILL");
    await exited;
  }
}

async function buildHome(home: string, llm: FakeLlm): Promise<void> {
  writeFileSync(
    join(home, "config.yaml"),
    `model:\n  default: bench\n  provider: custom\n  base_url: ${llm.url}/v1\n  context_length: 2000000\n`,
  );
  const store = await SqliteSessionStore.open({ path: join(home, "state.db") });
  const fill = async (id: string, count: number) => {
    await store.createSession({ id, source: "cli" });
    for (let done = 0; done < count; done += 500)
      await store.appendMessages(
        id,
        Array.from({ length: Math.min(500, count - done) }, (_, index) => ({
          role: index % 2 === 0 ? "user" : "assistant",
          content: `message ${done + index} about the deployment, with **some** text`,
        })),
      );
  };
  await fill("bulk", Number(values.messages));
  await fill("small", 100);
  await fill("large", 5_000);
  await store.close();
}

async function ready(home: string, ...args: string[]): Promise<{ opened: Opened; ms: number }> {
  const began = performance.now();
  const opened = new Opened([process.execPath, program, ...args], home);
  await opened.shows("❯", 0);
  await opened.echo("q");
  return { opened, ms: performance.now() - began };
}

async function startTime(home: string, ...args: string[]): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run <= runs; run++) {
    const { opened, ms } = await ready(home, ...args);
    if (run > 0) times.push(ms);
    await opened.close();
  }
  return percentile(times, 0.5);
}

/** CPU and bytes of one key in a resumed session. */
async function keyCost(home: string, session: string): Promise<{ cpu: number; bytes: number }> {
  const { opened } = await ready(home, "-r", session);
  await pause(1_500);
  const cpu = cpuOf(opened.child.pid);
  const bytes = opened.written.length;
  for (let index = 0; index < keys; index++) {
    opened.child.write(index % 2 === 0 ? "x" : "\u007f");
    await pause(10);
  }
  const result = { cpu: (cpuOf(opened.child.pid) - cpu) / keys, bytes: (opened.written.length - bytes) / keys };
  await opened.close();
  return result;
}

async function streaming(home: string): Promise<{ p95: number; cpu: number; bytes: number }> {
  const { opened } = await ready(home);
  opened.child.write("\r");
  await opened.shows("lorem");
  const cpu = cpuOf(opened.child.pid);
  const bytes = opened.written.length;
  const times: number[] = [];
  for (let index = 0; index < 40; index++) {
    times.push(await opened.echo(String.fromCharCode(0x4e00 + index)));
    await pause(100);
  }
  const result = {
    p95: percentile(times, 0.95),
    cpu: cpuOf(opened.child.pid) - cpu,
    bytes: opened.written.length - bytes,
  };
  await opened.close();
  return result;
}

async function idleCpu(home: string): Promise<number> {
  const { opened } = await ready(home);
  // What is loaded in the background after the start is not idle time.
  await pause(12_000);
  const before = cpuOf(opened.child.pid);
  await pause(5_000);
  const used = (cpuOf(opened.child.pid) - before) / 5;
  await opened.close();
  return used;
}

function nodeFloor(): number {
  const times: number[] = [];
  for (let run = 0; run < runs; run++) {
    const began = performance.now();
    spawnSync(process.execPath, ["-e", "0"], { env: { PATH: process.env.PATH }, stdio: "ignore" });
    times.push(performance.now() - began);
  }
  return percentile(times, 0.5);
}

const home = tempDir("hermes-bench-terminal-");
// 200 words a second, for longer than the measurement.
const story = drip("lorem ".repeat(3_000), { everyMs: 5 });
const llm = await startFakeLlm({ script: (request) => (request.tools.length === 0 ? text("Title") : story) });
try {
  await buildHome(home, llm);
  const floor = nodeFloor();
  const prompt = await startTime(home);
  const resume = await startTime(home, "-r", "large");
  const small = await keyCost(home, "small");
  const large = await keyCost(home, "large");
  const stream = await streaming(home);
  const idle = await idleCpu(home);
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const absolute = (what: string, ours: string, budget: string, met: boolean): Line => ({
    what,
    ours,
    raw: "",
    ratio: undefined,
    absolute: { text: budget, met },
  });
  const lines: Line[] = [
    {
      what: "prompt ready, first key echoed",
      ours: ms(prompt),
      raw: ms(floor),
      ratio: prompt / floor,
      budget: { kind: "max", ratio: 8 },
    },
    {
      what: "resume 5,000 messages, more than a new session",
      ours: ms(resume),
      raw: ms(prompt),
      ratio: resume / prompt,
    },
    absolute("resume 5,000 messages: time added", ms(resume - prompt), "≤ 300 ms", resume - prompt <= 300),
    absolute("CPU per key, 100 messages", ms(small.cpu), "≤ 2 ms", small.cpu <= 2),
    absolute("CPU per key, 5,000 messages", ms(large.cpu), "≤ 2 ms", large.cpu <= 2),
    absolute("bytes per key, 5,000 messages", large.bytes.toFixed(0), "≤ 400", large.bytes <= 400),
    absolute("key echo p95 at 200 words/s", ms(stream.p95), "< 16 ms", stream.p95 < 16),
    absolute("CPU per second of streaming", ms(stream.cpu / 4), "", true),
    absolute("bytes per second of streaming", (stream.bytes / 4).toFixed(0), "", true),
    absolute("idle CPU per second", ms(idle), "≤ 2 ms", idle <= 2),
  ];
  const title = `The conversation screen; a store of ${values.messages} messages; floor: node -e 0`;
  process.exitCode = printTable(title, lines) > 0 ? 1 : 0;
} finally {
  await llm.close();
  rmSync(home, { recursive: true, force: true });
}
