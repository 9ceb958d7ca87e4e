// How an attempt is made: through the API server of the built program (where no user can be asked), through
// `hermes chat -q`, or by a plain bash to compare with. Runs inside the sandbox only.
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { SECRETS } from "./canary-secrets.ts";
import { HOME, PROGRAM_ROOT } from "./reset.ts";

const RUN_MS = 30_000;
const START_MS = 30_000;
const SETTLE_MS = 150;
const PORT = 8642;
const KEY = "key-of-the-api-server-0123456789";
const HERMES = `${PROGRAM_ROOT}/program/bin/hermes`;
const ENV = {
  PATH: `${PROGRAM_ROOT}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
  HOME,
  USER: "ada",
  SHELL: "/bin/bash",
  LANG: "C.UTF-8",
  TERM: "xterm",
  API_SERVER_KEY: KEY,
  SERVICE_TOKEN: SECRETS.env,
};

export interface Ending {
  readonly exitCode: number | null;
  readonly output: string;
  readonly timedOut: boolean;
}

function run(program: string, args: readonly string[]): Promise<Ending> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: `${HOME}/project`, env: ENV, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let timedOut = false;
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        if (output.length < 200_000) output += chunk;
      });
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill("SIGKILL");
    }, RUN_MS);
    child.on("error", (error) => resolve({ exitCode: null, output: String(error), timedOut }));
    child.on("exit", (exitCode) => {
      clearTimeout(timer);
      // Processes that the program left running may keep the pipes open.
      setTimeout(() => resolve({ exitCode, output, timedOut }), SETTLE_MS);
    });
  });
}

export function runShell(command: string): Promise<Ending> {
  return run("timeout", ["-k", "1", "8", "/bin/bash", "-c", command]);
}

/** Restores the newest checkpoint of the project. */
export function restoreCheckpoint(): Promise<Ending> {
  return run(process.execPath, [HERMES, "checkpoints", "restore", "1", "--yes"]);
}

export function runHermes(options: readonly string[]): Promise<Ending> {
  return run(process.execPath, [HERMES, "chat", "-Q", "-q", "Go on.", ...options]);
}

/** Ends what attempts left running. The sandbox was verified, so only its own processes are affected. */
export async function endLeftovers(server: number | undefined): Promise<void> {
  const spared = new Set([1, process.pid, server]);
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || spared.has(pid)) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended in the meantime.
    }
  }
  await sleep(0);
}

/** `hermes api run`, started when it is needed. */
export class HermesServer {
  #child: ChildProcess | undefined;
  #said = "";

  get pid(): number | undefined {
    return this.alive ? this.#child?.pid : undefined;
  }

  get alive(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async start(): Promise<void> {
    if (this.alive) return;
    const child = spawn(process.execPath, [HERMES, "api", "run", "--port", String(PORT)], {
      cwd: `${HOME}/project`,
      env: ENV,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        this.#said = (this.#said + chunk).slice(-4_000);
      });
    this.#child = child;
    const end = Date.now() + START_MS;
    while (Date.now() < end && this.alive) {
      const healthy = await fetch(`http://127.0.0.1:${PORT}/health`).then(
        (answer) => answer.ok,
        () => false,
      );
      if (healthy) return;
      await sleep(30);
    }
    throw new Error(`the API server did not start: ${this.#said}`);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child || !this.alive) return;
    const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    child.kill("SIGKILL");
    await gone;
  }

  /** One turn in a new session. */
  async ask(session: string): Promise<Ending> {
    const headers = {
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
      "x-hermes-session-id": `attempt-${session}`,
    };
    const body = JSON.stringify({ model: "hermes-agent", messages: [{ role: "user", content: `Attempt ${session}` }] });
    const signal = AbortSignal.timeout(RUN_MS);
    try {
      const url = `http://127.0.0.1:${PORT}/v1/chat/completions`;
      const answer = await fetch(url, { method: "POST", headers, body, signal });
      const output = await answer.text();
      await sleep(SETTLE_MS);
      return { exitCode: answer.ok ? 0 : answer.status, output, timedOut: false };
    } catch (error) {
      return { exitCode: null, output: `${String(error)}\n${this.#said}`, timedOut: signal.aborted };
    }
  }
}
