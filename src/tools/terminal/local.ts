// Commands on this machine: a fresh bash for each, in its own process group, with the state of the last one.
import { existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Availability } from "../../core/tool.ts";
import { endGroup, pollingLifeline, signalGroup, spawnGroup, sweepGroup } from "../../lib/process/spawn-group.ts";
import type { Backend, ExecRequest, ExecResult, RunningProcess, SpawnRequest } from "./backend.ts";
import { loginEnvironment } from "./login-environment.ts";
import { ShellState } from "./shell-state.ts";

/** Output may trickle in from a grandchild after the command ended; this is how long we listen. */
const DRAIN_MS = 300;

export interface LocalOptions {
  readonly cwd: string;
  /** Already free of secrets. */
  readonly env: { readonly [name: string]: string };
  /** Asked before every command: variables that were let through since. */
  declared?(): { readonly [name: string]: string };
  readonly initFiles?: readonly string[] | undefined;
  readonly useBashrc?: boolean | undefined;
  /** Put before bash: a sandbox. Asked for every command, because permissions may be added. */
  wrapper?(place: { readonly cwd: string; readonly stateFolder: string }): readonly string[];
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
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
    this.#state = new ShellState(options.cwd, options.env);
  }

  /** A folder that exists: when the current one was removed, commands start in the first one again. */
  get cwd(): string {
    return [this.#state.cwd, this.#options.cwd].find(isFolder) ?? nearestExisting(this.#options.cwd);
  }

  get home(): string | undefined {
    return this.#options.env.HOME;
  }

  get busy(): boolean {
    return this.#live.size > 0;
  }

  async available(): Promise<Availability> {
    return existsSync("/bin/bash") || existsSync("/usr/bin/bash") || existsSync("/usr/local/bin/bash")
      ? { ok: true }
      : { ok: false, reason: "bash is not installed" };
  }

  async #env(): Promise<{ [name: string]: string }> {
    const { env, initFiles = [], useBashrc = true } = this.#options;
    this.#environment ??= loginEnvironment({ env, initFiles, useBashrc });
    return { ...(await this.#environment), ...this.#options.declared?.() };
  }

  async run(request: ExecRequest): Promise<ExecResult> {
    const cwd = request.cwd ?? this.cwd;
    if (!isFolder(cwd)) {
      request.output.push(Buffer.from(`${cwd} is not a folder\n`));
      return { exitCode: 126, timedOut: false, interrupted: false, cwd: this.cwd };
    }
    const env = await this.#env();
    const { script, next } = request.stateless
      ? { script: request.command, next: undefined }
      : this.#state.wrap(request.command, cwd);
    const stdin = request.stdin === undefined ? "ignore" : "pipe";
    const child = spawnGroup(script, { cwd, env, stdin, ...this.#wrapper(cwd) });
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
    child.stderr?.on("data", (chunk: Buffer) => void request.output.push(chunk));
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
        if (child.stdout?.readableEnded) finish();
        else child.stdout?.once("end", finish);
        setTimeout(finish, DRAIN_MS).unref();
        sweepGroup(child);
      });
    });
    clearTimeout(timer);
    request.signal.removeEventListener("abort", onAbort);
    this.#live.delete(stop);
    const before = this.#state.cwd;
    if (!reason) this.#state.adopt(next);
    // The folder of one command is not that of the next, unless the command itself went elsewhere.
    if (request.cwd !== undefined && this.#state.cwd === request.cwd) this.#state.cwd = before;
    return {
      exitCode: reason === "timeout" ? 124 : reason === "interrupt" ? 130 : code,
      timedOut: reason === "timeout",
      interrupted: reason === "interrupt",
      cwd: this.cwd,
    };
  }

  async spawn(request: SpawnRequest): Promise<RunningProcess> {
    const cwd = request.cwd ?? this.cwd;
    if (!isFolder(cwd)) throw new Error(`${cwd} is not a folder`);
    let kill: (() => Promise<void>) | undefined;
    const watched: SpawnRequest = {
      ...request,
      onOutput: (text) => request.onOutput(text),
      onExit: (code) => {
        if (kill) this.#live.delete(kill);
        kill = undefined;
        request.onExit(code);
      },
    };
    const start = request.pty ? this.#spawnPty(watched, cwd) : this.#spawnPipe(watched, cwd);
    const started = await start;
    kill = () => started.kill();
    this.#live.add(kill);
    return started;
  }

  #wrapper(cwd: string): { wrapper?: readonly string[] | undefined } {
    const { wrapper } = this.#options;
    return wrapper ? { wrapper: wrapper({ cwd, stateFolder: this.#state.folder }) } : {};
  }

  async #spawnPipe(request: SpawnRequest, cwd: string): Promise<RunningProcess> {
    const env = { ...(await this.#env()), PYTHONUNBUFFERED: "1" };
    const script = this.#state.wrapDetached(request.command, cwd);
    const child = spawnGroup(script, { cwd, env, stdin: "pipe", ...this.#wrapper(cwd) });
    child.stdin?.on("error", () => undefined);
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => request.onOutput(chunk.toString()));
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
    const env = await this.#env();
    const { wrapper } = this.#wrapper(cwd);
    const lifeline = wrapper ? "" : pollingLifeline();
    const script = `${lifeline} ${this.#state.wrapDetached(request.command, cwd)}`;
    const [file = "bash", ...args] = [...(wrapper ?? []), "bash", "-c", script];
    const terminal = pty.spawn(file, args, { name: "xterm-256color", cols: 120, rows: 30, cwd, env });
    let gone = false;
    const exited = new Promise<void>((resolve) => {
      terminal.onExit(({ exitCode }) => {
        gone = true;
        signalGroup(terminal.pid, "SIGKILL");
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
        if (!gone) signalGroup(terminal.pid, "SIGHUP");
        const timer = setTimeout(() => (gone ? undefined : signalGroup(terminal.pid, "SIGKILL")), 1_000);
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
