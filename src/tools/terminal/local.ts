// Runs commands on this machine: each in a new bash and process group, with the variables and folder of the last one.
import { existsSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { dirname } from "node:path";
import type { Contained } from "../../core/container.ts";
import type { Availability } from "../../core/tool/tool.ts";
import { endGroup, pollingLifeline, signalGroup, spawnGroup, sweepGroup } from "../../lib/process/spawn-group.ts";
import type { Backend, ExecRequest, ExecResult, RunningProcess, SpawnRequest } from "./backend.ts";
import { loginEnvironment } from "./login-environment.ts";
import { ShellState } from "./shell-state.ts";

/** How long output of processes that outlive the command is still read. */
const DRAIN_MS = 300;
const MAX_PROCESSES = 4_096;
const MAX_MEMORY_KB = Math.max(4_194_304, Math.floor((totalmem() / 1024) * 0.75));

/** A command that is about to start. */
export interface ContainedStart {
  readonly cwd: string;
  readonly stateFolder: string;
  readonly request: ExecRequest | SpawnRequest;
}

export interface LocalOptions {
  readonly cwd: string;
  /** Contains no secrets. */
  readonly env: { readonly [name: string]: string };
  /** Additional variables; called before every command because skills may declare more. */
  declared?(): { readonly [name: string]: string };
  readonly initFiles?: readonly string[] | undefined;
  readonly useBashrc?: boolean | undefined;
  /** Puts a command into a container; called for every command because permissions may be added. Null for none. */
  contain?(start: ContainedStart): Promise<Contained | null>;
  /** The path of this machine for a path in the container. */
  hostPath?(path: string): string;
}

/** Limits of a contained command: processes, and memory of each process in KB. They cannot be raised inside. */
const LIMITS = `ulimit -u ${MAX_PROCESSES} -d ${MAX_MEMORY_KB} -c 0 2>/dev/null; `;

interface Start {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  readonly wrapper: readonly string[] | undefined;
  readonly limits: string;
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
  readonly #running = new Set<() => Promise<void>>();

  constructor(options: LocalOptions) {
    this.#options = options;
    this.#state = new ShellState(options.cwd, options.env);
  }

  /** An existing folder: the current one, the initial one if it was removed, or the nearest existing parent. */
  get cwd(): string {
    return (
      [this.#state.cwd, this.#options.cwd].find((path) => this.#isFolder(path)) ?? nearestExisting(this.#options.cwd)
    );
  }

  #isFolder(path: string): boolean {
    return isFolder(this.#options.hostPath?.(path) ?? path);
  }

  get home(): string | undefined {
    return this.#options.env.HOME;
  }

  get busy(): boolean {
    return this.#running.size > 0;
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
    if (!this.#isFolder(cwd)) {
      request.output.push(Buffer.from(`${cwd} is not a folder\n`));
      return { exitCode: 126, timedOut: false, interrupted: false, cwd: this.cwd };
    }
    const started = await this.#startIn(cwd, request);
    const { script, next } = request.stateless
      ? { script: request.command, next: undefined }
      : this.#state.wrap(request.command, cwd);
    const stdin = request.stdin === undefined ? "ignore" : "pipe";
    const child = spawnGroup(`${started.limits}${script}`, { ...started, stdin });
    const stop = () => endGroup(child);
    this.#running.add(stop);
    let reason: "timeout" | "interrupt" | undefined;
    const stopFor = (why: "timeout" | "interrupt") => {
      reason ??= why;
      void stop();
    };
    const timer = setTimeout(() => stopFor("timeout"), request.timeoutMs);
    const onAbort = () => stopFor("interrupt");
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
    this.#running.delete(stop);
    const before = this.#state.cwd;
    if (!reason) this.#state.adopt(next);
    // `cwd` of a request holds for that command only, unless the command changed the folder itself.
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
    if (!this.#isFolder(cwd)) throw new Error(`${cwd} is not a folder`);
    let kill: (() => Promise<void>) | undefined;
    const watched: SpawnRequest = {
      ...request,
      onOutput: (text) => request.onOutput(text),
      onExit: (code) => {
        if (kill) this.#running.delete(kill);
        kill = undefined;
        request.onExit(code);
      },
    };
    const started = await (request.pty ? this.#spawnPty(watched, cwd) : this.#spawnPipe(watched, cwd));
    kill = () => started.kill();
    this.#running.add(kill);
    return started;
  }

  /** Where and how the next command starts. A container has its own folder, so bash starts in the root folder. */
  async #startIn(cwd: string, request: ExecRequest | SpawnRequest): Promise<Start> {
    const env = await this.#env();
    const contained = await this.#options.contain?.({ cwd, stateFolder: this.#state.folder, request });
    if (!contained) return { cwd, env, wrapper: undefined, limits: "" };
    const changed = { ...env, ...contained.env };
    const kept = Object.entries(changed).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return { cwd: "/", env: Object.fromEntries(kept), wrapper: contained.wrapper, limits: LIMITS };
  }

  async #spawnPipe(request: SpawnRequest, cwd: string): Promise<RunningProcess> {
    const started = await this.#startIn(cwd, request);
    const script = `${started.limits}${this.#state.wrapDetached(request.command, cwd)}`;
    const env = { ...started.env, PYTHONUNBUFFERED: "1" };
    const child = spawnGroup(script, { ...started, env, stdin: "pipe" });
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
    const { wrapper, env, limits, cwd: folder } = await this.#startIn(cwd, request);
    const lifeline = wrapper ? "" : pollingLifeline();
    const script = `${lifeline} ${limits}${this.#state.wrapDetached(request.command, cwd)}`;
    const [file = "bash", ...args] = [...(wrapper ?? []), "bash", "-c", script];
    const terminal = pty.spawn(file, args, { name: "xterm-256color", cols: 120, rows: 30, cwd: folder, env });
    let exited = false;
    const ended = new Promise<void>((resolve) => {
      terminal.onExit(({ exitCode }) => {
        exited = true;
        signalGroup(terminal.pid, "SIGKILL");
        request.onExit(exitCode);
        resolve();
      });
    });
    terminal.onData((text) => request.onOutput(text));
    return {
      pid: terminal.pid,
      write: (data) => {
        if (!exited) terminal.write(data);
        return !exited;
      },
      closeStdin: () => (exited ? undefined : terminal.write("\u0004")),
      kill: async () => {
        if (!exited) signalGroup(terminal.pid, "SIGHUP");
        const timer = setTimeout(() => (exited ? undefined : signalGroup(terminal.pid, "SIGKILL")), 1_000);
        await ended;
        clearTimeout(timer);
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((stop) => stop()));
    this.#running.clear();
    await this.#state.close();
  }
}
