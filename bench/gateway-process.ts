// A gateway in a separate process, with a probe that reports event-loop lag, memory and CPU use.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "../test/kit/temp-dir.ts";
import type { ChatFixture } from "./chat-fixture.ts";

const PROBE = `
import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";
if (isMainThread && process.channel) {
  const lag = monitorEventLoopDelay({ resolution: 10 });
  lag.enable();
  let gcMs = 0;
  new PerformanceObserver((list) => { for (const entry of list.getEntries()) gcMs += entry.duration; }).observe({ entryTypes: ["gc"] });
  const ms = (nanoseconds) => Math.max(0, nanoseconds / 1e6 - 10);
  process.on("message", (what) => {
    if (what === "gc") { globalThis.gc?.(); globalThis.gc?.(); }
    if (what === "quiet") { lag.disable(); return void process.send({}); }
    const { heapUsed, external } = process.memoryUsage();
    process.send({ p50: ms(lag.percentile(50)), p99: ms(lag.percentile(99)), max: ms(lag.max), heap: heapUsed, external, gcMs });
    lag.enable();
    lag.reset();
    gcMs = 0;
  });
  process.channel.unref();
}
`;

export interface Probe {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly heap: number;
  readonly external: number;
  readonly gcMs: number;
}

/** Milliseconds of processor time since the process began: all of it, and by thread. */
export interface Cpu {
  readonly all: number;
  readonly threads: ReadonlyMap<string, number>;
}

export interface Counts {
  readonly rss: number;
  readonly fds: number;
  readonly threads: number;
  readonly children: number;
}

const TICK_MS = 10;

function ticks(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

export interface GatewaySettings {
  readonly config?: string;
  readonly nodeFlags?: readonly string[];
  readonly env?: { readonly [name: string]: string };
}

export class GatewayProcess {
  readonly home: string;
  readonly #child: ChildProcess;
  #said = "";

  constructor(host: ChatFixture, settings: GatewaySettings = {}) {
    this.home = tempDir("hermes-bench-gateway-");
    writeFileSync(join(this.home, "probe.mjs"), PROBE);
    writeFileSync(
      join(this.home, "config.yaml"),
      `model:\n  default: test-model\n  provider: custom\n  base_url: ${host.modelUrl}/v1\n  context_length: 128000\ndisplay:\n  busy_input_mode: queue\nplatforms:\n  telegram:\n    extra:\n      rate_per_chat: 100000\n      rate_total: 100000\n${settings.config ?? ""}`,
    );
    const root = process.env.HERMES_ROOT ?? process.cwd();
    const program = process.env.HERMES_TEST_PROGRAM ?? join(root, "dist", "main.js");
    const flags = ["--expose-gc", ...(settings.nodeFlags ?? []), "--import", join(this.home, "probe.mjs")];
    this.#child = spawn(process.execPath, [...flags, program, "gateway", "run"], {
      cwd: this.home,
      env: {
        PATH: process.env.PATH ?? "",
        HOME: this.home,
        HERMES_HOME: this.home,
        TELEGRAM_BOT_TOKEN: host.token,
        TELEGRAM_API_ROOT: host.telegramUrl,
        TELEGRAM_ALLOW_ALL_USERS: "true",
        API_SERVER_ENABLED: "true",
        API_SERVER_PORT: "0",
        ...settings.env,
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        this.#said = (this.#said + chunk).slice(-20_000);
      });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** What it printed and the end of its log. */
  get words(): string {
    const log = join(this.home, "logs", "gateway.log");
    const written = existsSync(log) ? readFileSync(log, "utf8").split("\n").slice(-20).join("\n") : "";
    return `${this.#said}\n${written}`;
  }

  /** Lag since the last question. `gc` collects garbage first; `quiet` stops the timer that measures the lag. */
  async probe(what: "now" | "gc" | "quiet" = "now"): Promise<Probe> {
    return new Promise((resolve) => {
      this.#child.once("message", (answer) => resolve(answer as Probe));
      this.#child.send(what);
    });
  }

  cpu(): Cpu {
    const folder = `/proc/${this.pid}/task`;
    const threads = new Map<string, number>();
    for (const id of readdirSync(folder)) threads.set(id, ticks(readFileSync(join(folder, id, "stat"), "utf8")));
    return { all: ticks(readFileSync(`/proc/${this.pid}/stat`, "utf8")), threads };
  }

  counts(): Counts {
    const rollup = readFileSync(`/proc/${this.pid}/smaps_rollup`, "utf8");
    const folder = `/proc/${this.pid}/task`;
    const tasks = readdirSync(folder);
    const children = tasks.flatMap((id) =>
      readFileSync(join(folder, id, "children"), "utf8")
        .split(" ")
        .filter(Boolean),
    );
    return {
      rss: Number(/^Rss:\s+(\d+)/m.exec(rollup)?.[1]) * 1024,
      fds: readdirSync(`/proc/${this.pid}/fd`).length,
      threads: tasks.length,
      children: children.length,
    };
  }

  async stop(): Promise<void> {
    if (this.alive) {
      const gone = new Promise((resolve) => this.#child.once("exit", resolve));
      this.#child.kill("SIGTERM");
      const timer = setTimeout(() => this.#child.kill("SIGKILL"), 60_000);
      await gone;
      clearTimeout(timer);
    }
    rmSync(this.home, { recursive: true, force: true });
  }
}
