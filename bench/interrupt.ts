// Bench: how long an interrupt takes, until the turn has ended and every child process is gone.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApp } from "../src/app/compose.ts";
import type { Conversation } from "../src/core/conversation.ts";
import type { AgentEvent } from "../src/core/event.ts";
import { absentHuman } from "../src/core/human.ts";
import { openHome } from "../src/home/api.ts";
import { tempHome } from "../test/kit/temp-home.ts";
import { calls, type FakeLlm, hang, startFakeLlm, status, text, usage } from "../test/servers/fake-llm.ts";
import type { Reply } from "../test/servers/fake-llm-replies.ts";

const ROUNDS = 12;
const BUDGET_MS = 500;

interface InterruptFixture {
  readonly llm: FakeLlm;
  /** Replies for the next requests of turns. */
  readonly replies: Reply[];
  readonly summaries: { hang: boolean };
  /** Where commands run. */
  readonly folder: string;
  open(): Promise<Conversation>;
}

interface Sample {
  readonly turnMs: number;
  readonly goneMs: number;
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // The process ended in the meantime.
    return "";
  }
}

/** Processes whose command line has the mark. */
function alive(mark: string): number {
  let count = 0;
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    if (commandLine(pid).includes(mark)) count += 1;
  }
  return count;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(2);
}

/** Interrupts when `ready` resolves, and measures until the turn's end and until the marked processes are gone. */
async function interrupted(
  conversation: Conversation,
  ready: (events: readonly AgentEvent[]) => Promise<void>,
  mark?: string,
): Promise<Sample> {
  const controller = new AbortController();
  const events: AgentEvent[] = [];
  let endedAt = 0;
  const turn = (async () => {
    for await (const event of conversation.send("Go on, please.", { signal: controller.signal })) events.push(event);
    endedAt = performance.now();
  })();
  await ready(events);
  const began = performance.now();
  controller.abort();
  if (mark !== undefined) await until(() => alive(mark) === 0);
  const goneAt = performance.now();
  await turn;
  const end = events.at(-1);
  if (end?.type !== "ended" || end.end !== "interrupted")
    throw new Error(`it ended as ${JSON.stringify(end).slice(0, 300)}`);
  return { turnMs: endedAt - began, goneMs: mark === undefined ? 0 : goneAt - began };
}

const saw = (type: AgentEvent["type"]) => (events: readonly AgentEvent[]) =>
  until(() => events.some((event) => event.type === type));

async function streaming({ replies, open }: InterruptFixture): Promise<Sample> {
  replies.push(hang("after_text", "Let me think about "));
  return interrupted(await open(), saw("delta"));
}

async function waiting({ replies, open, llm }: InterruptFixture): Promise<Sample> {
  replies.push(hang());
  const before = llm.requests.length;
  return interrupted(await open(), () => until(() => llm.requests.length > before));
}

/** A shell, grandchildren in the background, and a process that ignores SIGTERM. */
const TREE = `(sleep $1 & sleep $1) &
bash -c 'trap "" TERM INT; sleep '$1'; true' &
sleep $1
wait
`;

async function children({ replies, open, folder }: InterruptFixture): Promise<Sample> {
  const seconds = `30${Math.floor(Math.random() * 1e9)}`;
  writeFileSync(join(folder, "tree.sh"), TREE);
  replies.push(calls([{ name: "terminal", args: { command: `bash tree.sh ${seconds}`, timeout: 120 } }]));
  const ready = () => until(() => alive(`sleep\0${seconds}`) >= 4);
  return interrupted(await open(), ready, seconds);
}

async function retryPause({ replies, open }: InterruptFixture): Promise<Sample> {
  replies.push(...Array.from({ length: 6 }, () => status(503, { retryAfter: 20 })));
  const sample = await interrupted(await open(), saw("retrying"));
  replies.length = 0;
  return sample;
}

/** The summary hangs; the turn that waits for it is interrupted. */
async function compaction(host: InterruptFixture): Promise<Sample> {
  const long = `An answer. ${"It says many things about it. ".repeat(200)}`;
  const conversation = await host.open();
  const signal = new AbortController().signal;
  for (let turn = 0; turn < 10; turn++) {
    host.replies.push(usage({ input: 1_000, output: 10 }, text(long)));
    for await (const event of conversation.send("Tell me more.", { signal })) void event;
  }
  // The window is nearly full, so the next turn begins with a summary.
  host.replies.push(usage({ input: 31_000, output: 10 }, calls([{ name: "todo", args: {} }])));
  host.summaries.hang = true;
  const summaries = () => host.llm.requests.filter((request) => request.tools.length === 0).length;
  const before = summaries();
  const sample = await interrupted(conversation, () => until(() => summaries() > before));
  host.summaries.hang = false;
  host.replies.length = 0;
  return sample;
}

async function openFixture(): Promise<InterruptFixture & { close(): Promise<void> }> {
  const home = tempHome();
  const replies: Reply[] = [];
  const summaries = { hang: false };
  const llm = await startFakeLlm({
    strict: false,
    script: (request) => {
      if (request.tools.length > 0) return replies.shift() ?? text("Nothing more.");
      return summaries.hang ? hang() : text("A short summary.");
    },
  });
  home.useModel(llm, "auxiliary:\n  title_generation:\n    enabled: false\napprovals:\n  mode: off\n");
  const opened = openHome([], {
    env: { PATH: process.env.PATH, HOME: home.path, HERMES_HOME: home.path },
    cwd: home.path,
    platform: process.platform,
    homedir: home.path,
  });
  const app = await openApp(opened.home, { overrides: { model: { context_length: 32_000 } } });
  return {
    llm,
    replies,
    summaries,
    folder: home.path,
    open: async () => (await app.openConversation({ human: absentHuman, source: "cli", platform: "cli" })).conversation,
    close: async () => {
      await app.close();
      await llm.close();
      home.remove();
    },
  };
}

const CASES: readonly (readonly [string, (host: InterruptFixture) => Promise<Sample>])[] = [
  ["while text streams", streaming],
  ["before the first byte", waiting],
  ["terminal with a tree of children", children],
  ["in the pause before a retry", retryPause],
  ["while a summary is written", compaction],
];

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const shown = (values: readonly number[]) =>
  `${median(values).toFixed(0).padStart(6)} ${Math.max(...values)
    .toFixed(0)
    .padStart(6)}`;

const opened = await openFixture();
let missed = 0;
try {
  console.log(`\nTime from an interrupt until the turn has ended and its processes are gone (${ROUNDS} rounds, ms)`);
  console.log(`${"".padEnd(34)}  turn p50    max    gone p50    max   budget ≤ ${BUDGET_MS}`);
  for (const [name, measure] of CASES) {
    const samples: Sample[] = [];
    for (let round = 0; round < ROUNDS; round++) samples.push(await measure(opened));
    const worst = Math.max(...samples.flatMap(({ turnMs, goneMs }) => [turnMs, goneMs]));
    const gone = samples.some(({ goneMs }) => goneMs > 0)
      ? shown(samples.map(({ goneMs }) => goneMs))
      : "".padStart(13);
    if (worst > BUDGET_MS) missed += 1;
    const verdict = worst > BUDGET_MS ? "FAIL" : "pass";
    console.log(`${name.padEnd(34)}  ${shown(samples.map(({ turnMs }) => turnMs))}      ${gone}   ${verdict}`);
  }
} finally {
  await opened.close();
}
process.exitCode = missed > 0 ? 1 : 0;
