// Commands on this machine: a fresh bash for each, in its own process group, with the state of the last one.
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Availability } from "../../core/tool.ts";
import type { Backend, ExecRequest, ExecResult, RunningProcess, SpawnRequest } from "./backend.ts";
import { loginEnvironment } from "./login-environment.ts";
import { endGroup, spawnGroup, sweepGroup } from "./process-group.ts";
import { ShellState } from "./shell-state.ts";

/** Output may trickle in from a grandchild after the command ended; this is how long we listen. */
const DRAIN_MS = 300;

export interface LocalOptions {
  readonly cwd: string;
  /** Already free of secrets. */
  readonly env: { readonly [name: string]: string };
  readonly initFiles?: readonly string[];
  readonly useBashrc?: boolean;
  /** Put before bash: a sandbox. Asked for every command, because permissions may be added. */
  wrapper?(cwd: string): readonly string[];
}

function nearestExisting(path: string): string {
  let folder = path;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

export class LocalBackend implements Backend {
  readonly name = "local";
  readonly #options: LocalOptions;
  readonly #state: ShellState;
  #environment: Promise<{ [name: string]: string }> | undefined;
  readonly #live = new Set<() => Promise<void>>();

  constructor(options: LocalOptions) {
    this.#options = options;
    this.#state = new ShellState(options.cwd);
  }

  get cwd(): string {
    return this.#state.cwd;
  }

  async available(): Promise<Availability> {
    return existsSync("/bin/bash") || existsSync("/usr/bin/bash") || existsSync("/usr/local/bin/bash")
      ? { ok: true }
      : { ok: false, reason: "bash is not installed" };
  }

  #env(): Promise<{ [name: string]: string }> {
    const { env, initFiles = [], useBashrc = true } = this.#options;
    this.#environment ??= loginEnvironment({ env, initFiles, useBashrc });
    return this.#environment;
  }

  async run(request: ExecRequest): Promise<ExecResult> {
    const cwd = nearestExisting(request.cwd ?? this.cwd);
    const { script, next } = await this.#state.wrap(request.command, cwd);
    const wrapper = this.#options.wrapper?.(cwd);
    const child = spawnGroup(script, {
      cwd,
      env: await this.#env(),
      stdin: request.stdin === undefined ? "ignore" : "pipe",
      ...(wrapper ? { wrapper } : {}),
    });
    const stop = () => endGroup(child);
    this.#live.add(stop);
    let reason: "timeout" | "interrupt" | undefined;
    const end = (why: "timeout" | "interrupt") => {
      reason ??= why;
      void stop();
    };
    const timer = setTimeout(() => end("timeout"), request.timeoutMs);
    const onAbort = () => end("interrupt");
    if (request.signal.aborted) onAbort();
    request.signal.addEventListener("abort", onAbort, { once: true });
    if (request.stdin !== undefined) {
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(request.stdin);
    }
    child.stdout?.on("data", (chunk: Buffer) => {
      request.onOutput?.(chunk.toString());
      const wait = request.output.push(chunk);
      if (wait && child.stdout) {
        const { stdout } = child;
        stdout.pause();
        void wait.then(() => stdout.resume());
      }
    });
    const code = await new Promise<number>((resolve) => {
      child.once("error", () => resolve(127));
      child.once("exit", (exitCode) => {
        const finish = () => resolve(exitCode ?? 137);
        child.stdout?.once("end", finish);
        setTimeout(finish, DRAIN_MS).unref();
        sweepGroup(child);
      });
    });
    clearTimeout(timer);
    request.signal.removeEventListener("abort", onAbort);
    this.#live.delete(stop);
    if (!reason) await this.#state.adopt(next);
    return {
      exitCode: reason === "timeout" ? 124 : reason === "interrupt" ? 130 : code,
      timedOut: reason === "timeout",
      interrupted: reason === "interrupt",
      cwd: this.cwd,
    };
  }

  async spawn(request: SpawnRequest): Promise<RunningProcess> {
    const cwd = nearestExisting(request.cwd ?? this.cwd);
    const started = request.pty ? await this.#spawnPty(request, cwd) : await this.#spawnPipe(request, cwd);
    const kill = () => started.kill();
    this.#live.add(kill);
    return started;
  }

  async #spawnPipe(request: SpawnRequest, cwd: string): Promise<RunningProcess> {
    const { script } = await this.#state.wrap(request.command, cwd);
    const wrapper = this.#options.wrapper?.(cwd);
    const env = { ...(await this.#env()), PYTHONUNBUFFERED: "1" };
    const child = spawnGroup(script, { cwd, env, stdin: "pipe", ...(wrapper ? { wrapper } : {}) });
    child.stdin?.on("error", () => undefined);
    child.stdout?.on("data", (chunk: Buffer) => request.onOutput(chunk.toString()));
    child.once("error", () => request.onExit(127));
    child.once("exit", (code, signal) => {
      sweepGroup(child);
      request.onExit(code ?? (signal === "SIGTERM" ? -15 : 137));
    });
    return {
      pid: child.pid ?? null,
      write: (data) => {
        if (!child.stdin?.writable) return false;
        child.stdin.write(data);
        return true;
      },
      closeStdin: () => void child.stdin?.end(),
      kill: () => endGroup(child),
    };
  }

  async #spawnPty(request: SpawnRequest, cwd: string): Promise<RunningProcess> {
    const pty = await import("@lydell/node-pty");
    const { script } = await this.#state.wrap(request.command, cwd);
    const terminal = pty.spawn("bash", ["-c", script], {
      name: "xterm-256color",
      cols: 120,
      rows: 30,
      cwd,
      env: await this.#env(),
    });
    let gone = false;
    const exited = new Promise<void>((resolve) => {
      terminal.onExit(({ exitCode }) => {
        gone = true;
        request.onExit(exitCode);
        resolve();
      });
    });
    terminal.onData((text) => request.onOutput(text));
    return {
      pid: terminal.pid,
      write: (data) => {
        if (!gone) terminal.write(data);
        return !gone;
      },
      closeStdin: () => (gone ? undefined : terminal.write("\u0004")),
      kill: async () => {
        if (!gone) terminal.kill("SIGHUP");
        const timer = setTimeout(() => (gone ? undefined : terminal.kill("SIGKILL")), 1_000);
        await exited;
        clearTimeout(timer);
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#live].map((stop) => stop()));
    this.#live.clear();
    await this.#state.close();
  }
}
