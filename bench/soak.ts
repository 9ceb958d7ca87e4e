// Bench: 72 hours of a gateway in minutes: 4,320 ticks of its scheduler and thousands of turns; memory, descriptors and children must stay flat.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { tempDir } from "../test/kit/temp-dir.ts";
import { ChatFixture } from "./chat-fixture.ts";
import { type Order, type Report, runSoakHost, type Sample } from "./soak-host.ts";
import { type Line, printTable } from "./table.ts";

const { values } = parseArgs({
  options: {
    role: { type: "string", default: "people" },
    chats: { type: "string", default: "100" },
    rounds: { type: "string", default: "60" },
    hours: { type: "string", default: "72" },
  },
});

const CHATS = Number(values.chats);
const ROUNDS = Number(values.rounds);
const TICKS = Number(values.hours) * 60;
const LATE_MS = 120_000;
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

/** Some turns run a command in a child process, once each. */
function toolCall(body: string, mark: string): { name: string; arguments: string } | undefined {
  const [chat = 0, number = 0] = mark.slice(2, -2).split("-").map(Number);
  const answered = body.lastIndexOf('"role":"tool"') > body.lastIndexOf(mark);
  if (answered || (chat + number) % 7 !== 0) return undefined;
  return { name: "terminal", arguments: JSON.stringify({ command: `echo ${chat} ${number}` }) };
}

class Host {
  readonly home = tempDir("hermes-bench-soak-");
  readonly failure: string[] = [];
  readonly #child: ChildProcess;
  #waiting: ((report: Report) => void)[] = [];

  constructor(fixture: ChatFixture) {
    const here = dirname(fileURLToPath(import.meta.url));
    const root = process.env.HERMES_ROOT ?? process.cwd();
    const built = dirname(process.env.HERMES_TEST_PROGRAM ?? join(root, "dist", "main.js"));
    // The host runs from sources; its workers are those of the build.
    for (const name of ["store-worker", "mail-worker"])
      writeFileSync(
        join(here, `${name}.js`),
        `import(${JSON.stringify(pathToFileURL(join(built, `${name}.js`)).href)});`,
      );
    mkdirSync(join(this.home, "work"));
    writeFileSync(
      join(this.home, "config.yaml"),
      `model:\n  default: test-model\n  provider: custom\n  base_url: ${fixture.modelUrl}/v1\n  context_length: 128000\ndisplay:\n  busy_input_mode: queue\nplatforms:\n  telegram:\n    extra:\n      poll_seconds: 2\n      rate_per_chat: 100000\n      rate_total: 100000\n`,
    );
    this.#child = spawn(process.execPath, ["--expose-gc", fileURLToPath(import.meta.url), "--role", "host"], {
      cwd: join(this.home, "work"),
      env: {
        PATH: process.env.PATH ?? "",
        HOME: this.home,
        HERMES_HOME: this.home,
        TELEGRAM_BOT_TOKEN: fixture.token,
        TELEGRAM_API_ROOT: fixture.telegramUrl,
        TELEGRAM_ALLOW_ALL_USERS: "true",
        TELEGRAM_HOME_CHANNEL: "999",
      },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child.on("message", (report) => {
      const known = report as Report;
      if ("log" in known) this.failure.push(known.log);
      else this.#waiting.shift()?.(known);
    });
  }

  /** The next report; commands are executed one after another. */
  async #report(): Promise<Report> {
    return new Promise((resolve, reject) => {
      const gone = () => reject(new Error(`the host ended: ${this.failure.slice(-5).join("\n")}`));
      if (!this.#child.connected) return gone();
      this.#child.once("exit", gone);
      this.#waiting.push((report) => {
        this.#child.off("exit", gone);
        resolve(report);
      });
    });
  }

  async started(): Promise<void> {
    await this.#report();
  }

  async order(order: Order): Promise<Report> {
    const report = this.#report();
    this.#child.send(order);
    return report;
  }

  async sample(): Promise<Sample> {
    const report = await this.order("sample");
    if (!("sample" in report)) throw new Error("the host did not answer with a sample");
    return report.sample;
  }
}

/** One round: every chat sends one message; some send a file or a command, and sometimes all connections are cut. */
async function round(fixture: ChatFixture, host: Host, number: number): Promise<void> {
  const expected = fixture.answered + CHATS;
  const ticks = Math.floor((TICKS * number) / ROUNDS) - Math.floor((TICKS * (number - 1)) / ROUNDS);
  const ticking = host.order({ ticks });
  for (let chat = 0; chat < CHATS; chat++) {
    const id = 1000 + chat;
    if ((chat + number) % 23 === 0) fixture.say(id, "/new");
    if ((chat + number) % 19 === 0) fixture.say(id, "/status");
    const file = `file${chat}-${number}`;
    const sends = (chat + number) % 11 === 0;
    if (sends) fixture.files.set(file, Buffer.from(`content of ${file}\n`.repeat(500)));
    const document = { file_id: file, file_unique_id: file, file_name: `${file}.txt`, mime_type: "text/plain" };
    fixture.ask(id, number, sends ? { document, text: undefined, caption: `See ~#${id}-${number}#~` } : {});
    if (chat % 5 === 4) await sleep(20);
    if (number % 6 === 0 && chat === CHATS / 2) fixture.breakLines();
  }
  const until = performance.now() + LATE_MS;
  while (fixture.answered < expected && performance.now() < until) await sleep(20);
  await ticking;
  fixture.files.clear();
}

/** Change from the beginning to the end of a straight line through the values. */
function rise(list: readonly number[]): number {
  const middle = (list.length - 1) / 2;
  const mean = list.reduce((sum, value) => sum + value, 0) / list.length;
  let above = 0;
  let below = 0;
  for (const [index, value] of list.entries()) {
    above += (index - middle) * (value - mean);
    below += (index - middle) ** 2;
  }
  return below === 0 ? 0 : (above / below) * (list.length - 1);
}

async function people(): Promise<number> {
  const fixture = await new ChatFixture({ modelMs: () => 15, pieces: 5, pieceMs: 3, script: toolCall }).start();
  const host = new Host(fixture);
  const samples: Sample[] = [];
  try {
    await host.started();
    const job = { prompt: "Say how things are. ~#0-0#~", schedule: "every 30m", deliver: "telegram:999" };
    await host.order({ job: JSON.stringify(job) });
    const began = performance.now();
    for (let number = 1; number <= ROUNDS; number++) {
      await round(fixture, host, number);
      const sample = await host.sample();
      samples.push(sample);
      const { heap, rss, fds, sockets, threads, children, openAgents, waiting } = sample;
      console.log(
        `round ${number}: heap ${mb(heap)}, RSS ${mb(rss)}, ${fds} descriptors, ${sockets} sockets, ${threads} threads, ${children} children, ${openAgents} conversations, ${waiting} waiting, ${Math.round((performance.now() - began) / 1000)} s`,
      );
    }
    await host.order("stop");
  } finally {
    await fixture.close();
    rmSync(host.home, { recursive: true, force: true });
  }
  return printResults(fixture, host, samples);
}

const plain = (what: string, ours: string, absolute?: Line["absolute"]): Line => ({
  what,
  ours,
  raw: "",
  ratio: undefined,
  ...(absolute ? { absolute } : {}),
});

function printResults(fixture: ChatFixture, host: Host, samples: readonly Sample[]): number {
  const half = samples.slice(Math.floor(samples.length / 2));
  const at = (share: number) => samples[Math.min(samples.length - 1, Math.floor(samples.length * share))];
  const four = (text: (sample: Sample) => string) =>
    [0, 0.25, 0.5, 1]
      .map(at)
      .map((sample) => (sample ? text(sample) : "?"))
      .join(" → ");
  const heap = rise(half.map((sample) => sample.heap));
  const rss = rise(half.map((sample) => sample.rss));
  const missing = fixture.turns.size - [...fixture.turns.values()].filter((turn) => turn.shownAt > 0).length;
  const jobs = fixture.strays.filter((text) => text.includes('"999"')).length + (fixture.turns.has("0-0") ? 1 : 0);
  const missed = printTable(
    `soak: ${values.hours} h of ticks (${TICKS}), ${fixture.turns.size} turns in ${CHATS} chats; start → quarter → half → end`,
    [
      plain("answers missing", String(missing), { text: "0", met: missing === 0 }),
      plain("results of scheduled jobs delivered", String(jobs)),
      plain(
        "heap after a collection",
        four((sample) => mb(sample.heap)),
      ),
      plain("  rise over the second half", mb(heap), { text: "< 1.5 MB", met: heap < 1.5e6 }),
      plain(
        "memory (RSS)",
        four((sample) => mb(sample.rss)),
      ),
      plain("  rise over the second half", mb(rss), { text: "< 5 % of it", met: rss < 0.05 * (half[0]?.rss ?? 0) }),
      plain(
        "descriptors without sockets",
        four((sample) => String(sample.fds)),
        { text: "flat", met: rise(half.map((s) => s.fds)) < 2 },
      ),
      plain(
        "sockets, kept alive between calls",
        four((sample) => String(sample.sockets)),
        { text: "not rising", met: rise(half.map((s) => s.sockets)) < 0.2 * CHATS },
      ),
      plain(
        "threads",
        four((sample) => String(sample.threads)),
        { text: "flat", met: rise(half.map((s) => s.threads)) < 1 },
      ),
      plain(
        "children",
        four((sample) => String(sample.children)),
        { text: "0", met: (samples.at(-1)?.children ?? 1) === 0 },
      ),
      plain(
        "messages waiting",
        four((sample) => String(sample.waiting)),
        { text: "0", met: (samples.at(-1)?.waiting ?? 1) === 0 },
      ),
    ],
  );
  const kinds = new Map<string, number>();
  for (const line of host.failure)
    kinds.set(line.replaceAll(/\d+/g, "n"), (kinds.get(line.replaceAll(/\d+/g, "n")) ?? 0) + 1);
  for (const [text, count] of [...kinds].slice(0, 10)) console.log(`${count} × ${text.slice(0, 300)}`);
  return missed;
}

if (values.role === "host") await runSoakHost();
else process.exitCode = (await people()) > 0 ? 1 : 0;
