// The background processes of this program, with their output. They end with the program at the latest.
import { randomBytes } from "node:crypto";
import type { ProgramCall } from "../../core/container.ts";
import type { Backend, RunningProcess } from "./backend.ts";

const MAX_BUFFER = 200_000;
/** The gate checks input together with earlier input; the oldest is dropped beyond this length. */
const MAX_INPUT = 200_000;
const MAX_TRACKED = 64;
const FINISHED_TTL_MS = 1_800_000;

export interface ProcessStart {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly pty: boolean;
  readonly calls?: readonly ProgramCall[] | undefined;
  readonly exact?: boolean | undefined;
  /** The user approved that it runs outside the container. */
  readonly outside?: boolean | undefined;
  readonly conversationId: string;
  readonly notifyOnComplete: boolean;
  readonly watchPatterns: readonly string[];
}

export type ProcessEvent =
  | { readonly type: "completed"; readonly process: TrackedProcess; readonly tail: string }
  | { readonly type: "watch_match"; readonly process: TrackedProcess; readonly lines: readonly string[] };

export class TrackedProcess {
  readonly id = `proc_${randomBytes(6).toString("hex")}`;
  readonly command: string;
  readonly cwd: string;
  readonly conversationId: string;
  readonly pty: boolean;
  /** The name of the backend on which it runs. */
  readonly backend: string;
  readonly contained: boolean | undefined;
  /** Everything written to its standard input. */
  input = "";
  readonly startedAt = Date.now();
  output = "";
  droppedChars = 0;
  exitCode: number | null = null;
  endedAt: number | null = null;
  killed = false;
  running: RunningProcess | undefined;
  /** The agent has seen the end in a result of poll, wait or log, and needs no notice. */
  endSeen = false;
  readonly #waiters = new Set<() => void>();

  constructor(start: ProcessStart, backend: Pick<Backend, "cwd" | "name" | "container">) {
    this.command = start.command;
    this.cwd = backend.cwd;
    this.backend = backend.name;
    this.contained = backend.container && !start.outside ? true : undefined;
    this.pty = start.pty;
    this.conversationId = start.conversationId;
  }

  get status(): "running" | "exited" | "killed" {
    if (this.exitCode === null) return "running";
    return this.killed ? "killed" : "exited";
  }

  /** False when it no longer accepts input. */
  write(data: string): boolean {
    if (!this.running?.write(data)) return false;
    this.input = (this.input + data).slice(-MAX_INPUT);
    return true;
  }

  append(text: string): void {
    this.output += text;
    if (this.output.length > MAX_BUFFER * 1.25) {
      this.droppedChars += this.output.length - MAX_BUFFER;
      this.output = this.output.slice(-MAX_BUFFER);
    }
  }

  ended(code: number): void {
    if (this.exitCode !== null) return;
    this.exitCode = this.killed ? -15 : code;
    this.endedAt = Date.now();
    this.running = undefined;
    for (const waiter of this.#waiters) waiter();
    this.#waiters.clear();
  }

  /** True when it ended within the time. */
  async wait(ms: number, signal: AbortSignal): Promise<boolean> {
    if (this.exitCode !== null) return true;
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#waiters.delete(done);
        signal.removeEventListener("abort", done);
        resolve(this.exitCode !== null);
      };
      const timer = setTimeout(done, ms);
      this.#waiters.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }
}

/** Finds watched patterns: at most one match every 15 s. Turns itself off after matches were dropped three times in a row. */
class Watcher {
  readonly #patterns: readonly string[];
  #last = 0;
  #overruns = 0;
  #dropped = false;
  off = false;

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
  }

  matches(text: string, now: number): string[] {
    if (this.off || this.#patterns.length === 0) return [];
    const lines = text.split("\n").filter((line) => this.#patterns.some((pattern) => line.includes(pattern)));
    if (lines.length === 0) return [];
    if (now - this.#last < 15_000) {
      this.#dropped = true;
      return [];
    }
    this.#overruns = this.#dropped ? this.#overruns + 1 : 0;
    this.#dropped = false;
    this.#last = now;
    if (this.#overruns >= 3) this.off = true;
    return lines.slice(0, 20);
  }
}

export class ProcessRegistry {
  readonly #processes = new Map<string, TrackedProcess>();
  readonly #clean: (text: string) => string;
  /** Called when a process ended or printed a watched pattern, if that was requested at its start. */
  onEvent: ((event: ProcessEvent) => void) | undefined;

  /** `clean` removes control sequences and secrets from output before it is stored. */
  constructor(clean: (text: string) => string) {
    this.#clean = clean;
  }

  async start(backend: Backend, start: ProcessStart): Promise<TrackedProcess> {
    this.#evict();
    const process = new TrackedProcess(start, {
      cwd: start.cwd ?? backend.cwd,
      name: backend.name,
      container: backend.container,
    });
    const watcher = new Watcher(start.watchPatterns);
    process.running = await backend.spawn({
      command: start.command,
      cwd: start.cwd || undefined,
      pty: start.pty,
      calls: start.calls,
      exact: start.exact,
      outside: start.outside,
      onOutput: (raw) => {
        const text = this.#clean(raw);
        process.append(text);
        const lines = watcher.matches(text, Date.now());
        if (lines.length > 0) this.onEvent?.({ type: "watch_match", process, lines });
      },
      onExit: (code) => {
        process.ended(code);
        if ((start.notifyOnComplete || watcher.off) && !process.endSeen)
          this.onEvent?.({ type: "completed", process, tail: process.output.slice(-2_000) });
      },
    });
    this.#processes.set(process.id, process);
    return process;
  }

  #evict(): void {
    const now = Date.now();
    for (const process of this.#processes.values()) {
      if (process.endedAt !== null && now - process.endedAt > FINISHED_TTL_MS) this.#processes.delete(process.id);
    }
    for (const process of this.#processes.values()) {
      if (this.#processes.size < MAX_TRACKED) return;
      if (process.endedAt !== null) this.#processes.delete(process.id);
    }
  }

  get(id: string): TrackedProcess | undefined {
    return this.#processes.get(id);
  }

  /** The processes of one conversation, or all of them. */
  list(conversationId?: string): TrackedProcess[] {
    return [...this.#processes.values()].filter(
      (process) => conversationId === undefined || process.conversationId === conversationId,
    );
  }

  async kill(process: TrackedProcess): Promise<boolean> {
    if (!process.running) return false;
    process.killed = true;
    await process.running.kill();
    return true;
  }

  async close(): Promise<void> {
    await Promise.all(this.list().map((process) => this.kill(process)));
    this.#processes.clear();
  }
}
