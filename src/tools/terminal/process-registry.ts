// Background processes of this program: listed, watched, reaped. None outlives the program.
import { randomBytes } from "node:crypto";
import type { Backend, RunningProcess } from "./backend.ts";

const MAX_BUFFER = 200_000;
/** Input is judged together with what came before it; of more than this the oldest is forgotten. */
const MAX_INPUT = 200_000;
const MAX_TRACKED = 64;
const FINISHED_TTL_MS = 1_800_000;

export interface ProcessStart {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly pty: boolean;
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
  /** Everything that was written to it. */
  input = "";
  readonly startedAt = Date.now();
  output = "";
  droppedChars = 0;
  exitCode: number | null = null;
  endedAt: number | null = null;
  killed = false;
  running: RunningProcess | undefined;
  /** The agent has seen the end through poll, wait or log: it need not be told again. */
  endSeen = false;
  readonly #waiters = new Set<() => void>();

  constructor(start: ProcessStart, place: { readonly cwd: string; readonly name: string }) {
    this.command = start.command;
    this.cwd = place.cwd;
    this.backend = place.name;
    this.pty = start.pty;
    this.conversationId = start.conversationId;
  }

  get status(): "running" | "exited" | "killed" {
    if (this.exitCode === null) return "running";
    return this.killed ? "killed" : "exited";
  }

  /** False when it takes no input any more. */
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

  /** True when it has ended before the time was up. */
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

/** Matches of watched patterns, one message in 15 s for each process; three busy windows in a row end the watching. */
class Watcher {
  readonly #patterns: readonly string[];
  #last = 0;
  #strikes = 0;
  #missed = false;
  off = false;

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
  }

  matches(text: string, now: number): string[] {
    if (this.off || this.#patterns.length === 0) return [];
    const lines = text.split("\n").filter((line) => this.#patterns.some((pattern) => line.includes(pattern)));
    if (lines.length === 0) return [];
    if (now - this.#last < 15_000) {
      this.#missed = true;
      return [];
    }
    this.#strikes = this.#missed ? this.#strikes + 1 : 0;
    this.#missed = false;
    this.#last = now;
    if (this.#strikes >= 3) this.off = true;
    return lines.slice(0, 20);
  }
}

export class ProcessRegistry {
  readonly #processes = new Map<string, TrackedProcess>();
  readonly #clean: (text: string) => string;
  /** Told when a process that asked for it has ended or printed what was watched for. */
  onEvent: ((event: ProcessEvent) => void) | undefined;

  /** `clean` strips control sequences and secrets from every piece of output before it is kept. */
  constructor(clean: (text: string) => string) {
    this.#clean = clean;
  }

  async start(backend: Backend, start: ProcessStart): Promise<TrackedProcess> {
    this.#evict();
    const process = new TrackedProcess(start, { cwd: start.cwd ?? backend.cwd, name: backend.name });
    const watcher = new Watcher(start.watchPatterns);
    process.running = await backend.spawn({
      command: start.command,
      ...(start.cwd ? { cwd: start.cwd } : {}),
      pty: start.pty,
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

  /** A conversation sees its own processes only. */
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
