// Bench: the gateway with 1,000 chats at once and a scripted model: overhead of a turn, loop lag, use of the processor, memory.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ChatFixture, type TurnTimes } from "./chat-fixture.ts";
import { type Cpu, GatewayProcess, type Probe } from "./gateway-process.ts";
import { type Line, printTable } from "./table.ts";

const { values } = parseArgs({
  options: {
    chats: { type: "string", default: "1000" },
    /** Messages that each chat sends after its first. */
    messages: { type: "string", default: "3" },
    /** Turns that begin in a second: 25 is as many messages as Telegram lets one bot send. */
    rate: { type: "string", default: "25" },
    /** Seconds that the model takes for an answer during the measured conversations. */
    model: { type: "string", default: "1.5" },
    /** Seconds for which the idle gateway is measured. */
    idle: { type: "string", default: "60" },
    /** Prints the time per function from the profiler, which slows the run down a little. */
    profile: { type: "boolean", default: false },
  },
});
const CHATS = Number(values.chats);
const MESSAGES = Number(values.messages);
const RATE = Number(values.rate);
const MODEL_MS = Number(values.model) * 1000;
const PIECES = 40;
/** An answer that takes longer than this counts as missing. */
const LATE_MS = 60_000;

const DEFINITION = `Overhead of a turn = (the platform has the message → the model's server has the whole request)
  + (the last byte of the model's answer has left → the platform has the whole call that shows it),
  seen from outside the gateway's process, with nothing taken off: polling, disk, network and queueing are inside.
All at once: the model thinks until every chat is in a turn. Talking: each chat waits for its answer and a pause.`;

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
const percentile = (list: readonly number[], share: number) =>
  list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))] ?? 0;

interface Phase {
  readonly name: string;
  readonly turns: readonly TurnTimes[];
  readonly probe: Probe;
  readonly cpuMs: number;
  readonly threads: readonly number[];
  readonly most: number;
  readonly rss: number;
}

let modelMs = MODEL_MS;
let onAnswer: (turn: TurnTimes) => void = () => undefined;
const host = await new ChatFixture({
  modelMs: () => Math.max(0, modelMs - PIECES * 25),
  pieces: PIECES,
  pieceMs: 25,
  onAnswer: (turn) => onAnswer(turn),
}).start();
const ownLag = monitorEventLoopDelay({ resolution: 10 });
ownLag.enable();
const profileFlags = ["--cpu-prof", "--cpu-prof-dir", join(process.cwd(), "bench-profile")];
const gateway = new GatewayProcess(host, values.profile ? { nodeFlags: profileFlags } : {});

/** Waits for the answers of all these turns, up to the time limit. */
async function answers(count: number, ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (host.answered < count && performance.now() < until && gateway.alive) await sleep(20);
}

const used = (from: Cpu, to: Cpu) =>
  [...to.threads].map(([id, ms]) => ms - (from.threads.get(id) ?? 0)).sort((a, b) => b - a);

async function measured(name: string, work: () => Promise<void>): Promise<Phase> {
  const known = new Set(host.turns.keys());
  await gateway.probe();
  const before = gateway.cpu();
  let most = 0;
  const count = () => {
    let flying = 0;
    for (const turn of host.turns.values()) if (turn.askedAt > 0 && turn.repliedAt === 0) flying += 1;
    most = Math.max(most, flying);
  };
  const watch = setInterval(count, 500);
  await work();
  clearInterval(watch);
  const probe = await gateway.probe();
  const after = gateway.cpu();
  const turns = [...host.turns].filter(([key]) => !known.has(key)).map(([, turn]) => turn);
  const cpuMs = (after.all - before.all) / turns.length;
  const threads = used(before, after).map((ms) => ms / turns.length);
  return { name, turns, probe, cpuMs, threads, most, rss: gateway.counts().rss };
}

async function idle(): Promise<{ rss: number; share: number }> {
  const seconds = Number(values.idle);
  host.ask(1, 0);
  await answers(1, LATE_MS);
  await sleep(5_000);
  await gateway.probe("quiet");
  const before = gateway.cpu().all;
  await sleep(seconds * 1000);
  return { rss: gateway.counts().rss, share: (gateway.cpu().all - before) / (seconds * 1000) };
}

/** Every chat is in a turn at the same moment. */
async function allAtOnce(): Promise<void> {
  modelMs = (CHATS / RATE) * 1000 + 2_000;
  const expected = host.answered + CHATS;
  const began = performance.now();
  for (let chat = 0; chat < CHATS; chat++) {
    const wait = began + (chat * 1000) / RATE - performance.now();
    if (wait > 0) await sleep(wait);
    host.ask(1000 + chat, 0);
  }
  await answers(expected, modelMs + LATE_MS);
  modelMs = MODEL_MS;
}

/** Each chat writes, waits for the answer, pauses and writes again. */
async function talking(): Promise<void> {
  const pauseMs = Math.max(100, (CHATS / RATE) * 1000 - MODEL_MS);
  const expected = host.answered + CHATS * MESSAGES;
  const next = (chat: number, number: number) => {
    if (number <= MESSAGES) setTimeout(() => host.ask(chat, number), pauseMs * (0.5 + Math.random()));
  };
  onAnswer = (turn) => next(turn.chat, turn.number + 1);
  for (let chat = 0; chat < CHATS; chat++)
    setTimeout(() => host.ask(1000 + chat, 1), Math.random() * (pauseMs + MODEL_MS));
  await answers(expected, (MESSAGES + 1) * (pauseMs * 1.5 + MODEL_MS) + LATE_MS);
}

const overheadOf = (turn: TurnTimes) => turn.askedAt - turn.saidAt + (turn.shownAt - turn.repliedAt);
const plain = (what: string, ours: string, absolute?: Line["absolute"]): Line => ({
  what,
  ours,
  raw: "",
  ratio: undefined,
  ...(absolute ? { absolute } : {}),
});

function linesOf({ name, turns, probe, cpuMs, threads, most, rss }: Phase): Line[] {
  const good = turns.filter((turn) => turn.shownAt > 0);
  const times = good.map(overheadOf);
  const before = good.map((turn) => turn.askedAt - turn.saidAt);
  const after = good.map((turn) => turn.shownAt - turn.repliedAt);
  const three = (list: readonly number[]) => [0.5, 0.95, 0.99].map((share) => percentile(list, share).toFixed(1));
  const p95 = percentile(times, 0.95);
  const missing = turns.length - good.length;
  const shares = threads.slice(0, 3).map((ms) => ms.toFixed(1));
  return [
    plain(`${name}: turns, most in flight`, `${turns.length}, ${most}`),
    plain("  answers missing", String(missing), { text: "0", met: missing === 0 }),
    plain("  overhead p50 / p95 / p99", `${three(times).join(" / ")} ms`, { text: "p95 < 30 ms", met: p95 < 30 }),
    plain("    before the model", `${three(before).join(" / ")} ms`),
    plain("    after the model", `${three(after).join(" / ")} ms`),
    plain(
      "  loop lag p50 / p99 / longest",
      `${[probe.p50, probe.p99, probe.max].map((ms) => ms.toFixed(1)).join(" / ")} ms`,
      {
        text: "p99 < 50 ms",
        met: probe.p99 < 50,
      },
    ),
    plain("  processor per turn, busiest threads", `${cpuMs.toFixed(1)} ms (${shares.join(" + ")} …)`),
    plain("  of that collecting garbage", `${(probe.gcMs / turns.length).toFixed(1)} ms`),
    plain("  memory (RSS), heap", `${mb(rss)}, ${mb(probe.heap)}`),
  ];
}

interface Profile {
  readonly nodes: readonly { id: number; callFrame: { functionName: string; url: string }; children?: number[] }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** The main thread's own time by function, largest first. */
function printProfile(): void {
  const folder = join(process.cwd(), "bench-profile");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"))) {
    const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Profile;
    const names = new Map(
      nodes.map(({ id, callFrame }) => [
        id,
        `${callFrame.functionName || "(anonymous)"} ${callFrame.url.split("/").at(-1)}`,
      ]),
    );
    const own = new Map<string, number>();
    for (const [index, id] of samples.entries()) {
      const name = names.get(id) ?? "";
      own.set(name, (own.get(name) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
    }
    const rows = [...own].sort((a, b) => b[1] - a[1]).slice(0, 40);
    console.log(`\n${file}\n${rows.map(([name, ms]) => `${ms.toFixed(0).padStart(8)} ms  ${name}`).join("\n")}`);
  }
}

let missed = 1;
try {
  const quiet = await idle();
  const full = await measured("all at once", allAtOnce);
  const talk = await measured("talking", talking);
  const settled = await gateway.probe("gc");
  missed = printTable(
    `gateway: ${CHATS} chats, ${RATE} turns begin in a second, an answer of ${PIECES} pieces; talking the model takes ${MODEL_MS / 1000} s`,
    [
      plain("idle memory (RSS)", mb(quiet.rss), { text: "≤ 120 MB", met: quiet.rss <= 120e6 }),
      plain(`idle processor over ${values.idle} s`, `${(quiet.share * 100).toFixed(2)} %`, {
        text: "< 1 %",
        met: quiet.share < 0.01,
      }),
      ...linesOf(full),
      ...linesOf(talk),
      plain("heap after a collection", mb(settled.heap)),
      plain("messages without a mark, side calls", `${host.strays.length}, ${host.sideCalls}`),
      plain("lag of the measuring side p99", `${Math.max(0, ownLag.percentile(99) / 1e6 - 10).toFixed(1)} ms`),
    ],
  );
  console.log(`\n${DEFINITION}`);
  const lost = [...host.turns.values()].filter((turn) => turn.shownAt === 0);
  if (lost.length > 0) {
    const stage = (turn: TurnTimes) =>
      turn.askedAt === 0 ? "not asked" : turn.repliedAt === 0 ? "at the model" : "not shown";
    console.log(
      `\nmissing: ${lost
        .slice(0, 10)
        .map((turn) => `${turn.chat}-${turn.number} ${stage(turn)}`)
        .join(", ")}`,
    );
    console.log(`${host.strays.slice(0, 3).join("\n")}\n${gateway.words}`);
  }
} finally {
  await gateway.stop();
  await host.close();
}
if (values.profile) printProfile();
process.exitCode = missed > 0 ? 1 : 0;
