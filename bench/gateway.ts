// Bench: the gateway with 1,000 chats at once and a scripted model: overhead of a turn, loop lag, memory; then a soak.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startFakeLlm, text } from "../test/fake-llm.ts";
import { FakeTelegram } from "../test/fake-telegram.ts";
import { type Line, printTable } from "./table.ts";

const root = process.env.HERMES_ROOT ?? process.cwd();
const { values } = parseArgs({
  options: {
    chats: { type: "string", default: "1000" },
    /** Seconds that the model takes, so that all chats are in a turn at the same time. */
    model: { type: "string", default: "20" },
    /** Messages a second while the chats fill up. */
    rate: { type: "string", default: "50" },
    soak: { type: "string", default: "1500" },
  },
});
const CHATS = Number(values.chats);
const MODEL_MS = Number(values.model) * 1000;
const RATE = Number(values.rate);
const SOAK = Number(values.soak);

/** Runs inside the gateway's process and answers with its lag and size at each SIGUSR2. */
const PROBE = `
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";
if (isMainThread) {
  const lag = monitorEventLoopDelay({ resolution: 10 });
  lag.enable();
  process.on("SIGUSR2", () => {
    const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - 10);
    process.stderr.write("PROBE " + JSON.stringify({ p99: ms(lag.percentile(99)), max: ms(lag.max), rss: process.memoryUsage.rss(), heap: process.memoryUsage().heapUsed, cpu: process.cpuUsage() }) + "\\n");
    lag.reset();
  });
}
`;

interface Probe {
  readonly p99: number;
  readonly max: number;
  readonly rss: number;
  readonly heap: number;
  readonly cpu: { readonly user: number; readonly system: number };
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
const percentile = (list: readonly number[], share: number) =>
  list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))] ?? 0;

class Running {
  readonly #child: ChildProcess;
  #text = "";

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      this.#text += chunk;
    });
  }

  async probe(): Promise<Probe> {
    const before = this.#text.length;
    this.#child.kill("SIGUSR2");
    for (;;) {
      const found = /PROBE (.*)\n/.exec(this.#text.slice(before));
      if (found) return JSON.parse(found[1] ?? "{}") as Probe;
      await sleep(10);
    }
  }

  /** Open descriptors and living children, where the system tells. */
  counts(): { fds: number; children: number } {
    const pid = this.#child.pid ?? 0;
    const fds = readdirSync(`/proc/${pid}/fd`).length;
    const children = readdirSync(`/proc/${pid}/task`).length;
    return { fds, children };
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGTERM");
    await gone;
  }
}

const home = mkdtempSync(join(tmpdir(), "hermes-bench-gateway-"));
const telegram = await new FakeTelegram().start();
let modelMs = MODEL_MS;
const asked = new Map<string, number>();
const waited = new Map<string, number>();
const llm = await startFakeLlm({
  strict: false,
  script: async (request) => {
    const mark =
      /#[\d-]+#/.exec(String(request.messages.filter((each) => each.role === "user").at(-1)?.text))?.[0] ?? "";
    const began = performance.now();
    await sleep(modelMs);
    waited.set(mark, performance.now() - began);
    return text(`Answer ${mark}`);
  },
});

function start(): Running {
  writeFileSync(join(home, "probe.mjs"), PROBE);
  writeFileSync(
    join(home, "config.yaml"),
    `model:\n  default: test-model\n  provider: custom\n  base_url: ${llm.url}/v1\n  context_length: 128000\ndisplay:\n  busy_input_mode: queue\nplatforms:\n  telegram:\n    extra:\n      rate_per_chat: 100000\n      rate_total: 100000\n`,
  );
  const child = spawn(
    process.execPath,
    [
      "--import",
      join(home, "probe.mjs"),
      process.env.HERMES_TEST_PROGRAM ?? join(root, "dist", "main.js"),
      "gateway",
      "run",
    ],
    {
      cwd: home,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: home,
        HERMES_HOME: home,
        TELEGRAM_BOT_TOKEN: telegram.token,
        TELEGRAM_API_ROOT: telegram.url,
        TELEGRAM_ALLOW_ALL_USERS: "true",
      },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  return new Running(child);
}

const arrived = new Map<string, number>();
let looked = 0;
function look(): void {
  for (; looked < telegram.messages.length; looked++) {
    const message = telegram.messages[looked];
    const mark = message?.fromBot ? /#[\d-]+#/.exec(message.text)?.[0] : undefined;
    if (mark && !arrived.has(mark)) arrived.set(mark, performance.now());
  }
}
const watching = setInterval(look, 1);

async function ask(chat: number, number: number): Promise<void> {
  const mark = `#${chat}-${number}#`;
  asked.set(mark, performance.now());
  telegram.say(chat, `Question ${mark}`);
}

async function answers(count: number): Promise<void> {
  while (arrived.size < count) await sleep(5);
}

const overhead = (marks: Iterable<string>) =>
  [...marks].map((mark) => (arrived.get(mark) ?? 0) - (asked.get(mark) ?? 0) - (waited.get(mark) ?? 0));

const running = start();
modelMs = 1;
await ask(1, 0);
await answers(1);
await sleep(1_000);
const idle = await running.probe();
await sleep(5_000);
const quiet = await running.probe();
const idleCpu = (quiet.cpu.user + quiet.cpu.system - idle.cpu.user - idle.cpu.system) / 5e6;

modelMs = MODEL_MS;
const first = new Set<string>();
for (let chat = 0; chat < CHATS; chat++) {
  await ask(1000 + chat, 0);
  first.add(`#${1000 + chat}-0#`);
  await sleep(1000 / RATE);
}
await answers(1 + CHATS);
const full = await running.probe();
const times = overhead(first);
const cpuMs = (full.cpu.user + full.cpu.system - quiet.cpu.user - quiet.cpu.system) / 1000 / CHATS;

modelMs = 1;
const samples: { rss: number; fds: number; children: number }[] = [];
let done = 1 + CHATS;
for (let round = 1; done < 1 + CHATS + SOAK; round++) {
  for (let chat = 0; chat < 50; chat++) await ask(1000 + chat * 3, round);
  done += 50;
  await answers(done);
  samples.push({ rss: (await running.probe()).rss, ...running.counts() });
}
const warm = samples[Math.floor(samples.length / 3)] ?? samples[0];
const end = samples.at(-1);
clearInterval(watching);
await running.stop();
await telegram.close();
await llm.close();
rmSync(home, { recursive: true, force: true });

const plain = (what: string, ours: string, absolute?: Line["absolute"]): Line => ({
  what,
  ours,
  raw: "",
  ratio: undefined,
  ...(absolute ? { absolute } : {}),
});
const p95 = percentile(times, 0.95);
const missed = printTable(
  `gateway: ${CHATS} chats in a turn at once, model takes ${MODEL_MS / 1000} s, ${RATE} new messages a second`,
  [
    plain("idle memory", mb(idle.rss), { text: "≤ 120 MB", met: idle.rss <= 120e6 }),
    plain("idle processor", `${(idleCpu * 100).toFixed(2)} %`, { text: "< 1 %", met: idleCpu < 0.01 }),
    plain("processor time of a turn, all threads", `${cpuMs.toFixed(1)} ms`),
    plain("overhead of a turn, median", `${percentile(times, 0.5).toFixed(1)} ms`),
    plain("overhead of a turn, p95", `${p95.toFixed(1)} ms`, { text: "< 30 ms", met: p95 < 30 }),
    plain("loop lag, p99", `${full.p99.toFixed(1)} ms`, { text: "< 50 ms", met: full.p99 < 50 }),
    plain("loop lag, longest", `${full.max.toFixed(1)} ms`),
    plain(`memory with ${CHATS} turns`, mb(full.rss)),
    plain(`memory after ${SOAK} more turns`, `${mb(end?.rss ?? 0)} (warm ${mb(warm?.rss ?? 0)})`, {
      text: "≤ 1.3 × warm",
      met: (end?.rss ?? 0) <= 1.3 * (warm?.rss ?? 0),
    }),
    plain("descriptors, warm → end", `${warm?.fds} → ${end?.fds}`, {
      text: "flat",
      met: (end?.fds ?? 0) <= (warm?.fds ?? 0) + 5,
    }),
    plain("threads, warm → end", `${warm?.children} → ${end?.children}`, {
      text: "flat",
      met: (end?.children ?? 0) <= (warm?.children ?? 0),
    }),
  ],
);
process.exitCode = missed > 0 ? 1 : 0;
