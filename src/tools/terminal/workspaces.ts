// One workspace per conversation: its backend for commands, its working directory, its background processes.
import type { ProcessNotice } from "../../core/chat/process-notice.ts";
import type { Redactor } from "../../core/redactor.ts";
import { truncate } from "../../lib/text/truncate.ts";
import { stripAnsi } from "./ansi.ts";
import type { Backend } from "./backend.ts";
import { type ProcessEvent, ProcessRegistry } from "./process-registry.ts";

export type OpenBackend = (cwd: string, conversationId: string) => Promise<Backend>;

function toNotice(event: ProcessEvent): ProcessNotice {
  const { id, command, conversationId, exitCode, status } = event.process;
  const short = truncate(command, 80);
  if (event.type === "completed") {
    const line = `background process ${id} ended (${status}, exit code ${exitCode}): ${short}`;
    return {
      conversationId,
      kind: "completed",
      failed: exitCode !== 0,
      line,
      message: `[${line}]\nThe end of its output:\n${event.tail.trimEnd() || "(nothing)"}`,
    };
  }
  const line = `background process ${id} printed a watched pattern: ${short}`;
  const message = `[${line}]\n${event.lines.join("\n").slice(0, 2_000)}`;
  return { conversationId, kind: "watched", failed: false, line, message };
}

const REAP_EVERY_MS = 60_000;
/** Open backends. Beyond this the least recently used are closed, and their conversations start in the initial folder again. */
const MAX_BACKENDS = 256;
/** A backend that was requested within this time may be about to run something. */
const MIN_IDLE_MS = 60_000;

export class Workspaces {
  readonly processes: ProcessRegistry;
  readonly #open: OpenBackend;
  readonly #idleMs: number;
  readonly #most: number;
  readonly #restMs: number;
  readonly #used = new Map<string, number>();
  #reaper: NodeJS.Timeout | undefined;
  readonly #backends = new Map<string, Promise<Backend>>();
  readonly #ready = new Map<string, Backend>();
  readonly #listeners = new Set<(notice: ProcessNotice) => void>();

  /** `idleMs`: containers and connections unused for this long are closed. */
  constructor(
    open: OpenBackend,
    redactor: Redactor,
    options: {
      readonly idleMs?: number | undefined;
      readonly most?: number;
      readonly restMs?: number | undefined;
    } = {},
  ) {
    this.#open = open;
    this.#idleMs = options.idleMs ?? 0;
    this.#most = options.most ?? MAX_BACKENDS;
    this.#restMs = options.restMs ?? MIN_IDLE_MS;
    this.processes = new ProcessRegistry((text) => redactor.redact(stripAnsi(text)));
    this.processes.onEvent = (event) => {
      for (const listener of this.#listeners) listener(toNotice(event));
    };
  }

  /** Calls the listener when a background process ended or printed a watched pattern. Returns a function that stops this. */
  onProcessEvent(listener: (notice: ProcessNotice) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Opened at the first command of a conversation. */
  backend(conversationId: string, cwd: string): Promise<Backend> {
    // Deleted first, so that the map is ordered by last use.
    this.#used.delete(conversationId);
    this.#used.set(conversationId, Date.now());
    const known = this.#backends.get(conversationId);
    if (known) return known;
    const opening = this.#open(cwd, conversationId).then(
      (backend) => {
        this.#ready.set(conversationId, backend);
        void this.#trim();
        if (backend.remote && this.#idleMs > 0)
          this.#reaper ??= setInterval(() => void this.reap(Date.now()), REAP_EVERY_MS).unref();
        return backend;
      },
      (error) => {
        // The next command tries again.
        this.#backends.delete(conversationId);
        throw error;
      },
    );
    this.#backends.set(conversationId, opening);
    return opening;
  }

  /** The current folder of the conversation: `start` until a command changes it. */
  cwd(conversationId: string, start: string): string {
    return this.#ready.get(conversationId)?.cwd ?? start;
  }

  /** Closes remote backends that were idle for too long; the next command opens a new one. */
  async reap(now: number): Promise<void> {
    for (const [id, backend] of this.#ready) {
      if (!backend.remote || backend.busy || now - (this.#used.get(id) ?? now) < this.#idleMs) continue;
      await this.#drop(id, backend);
    }
  }

  /** Keeps the number of open backends bounded in a program that runs for months. */
  async #trim(): Promise<void> {
    let over = this.#ready.size - this.#most;
    for (const [id, usedAt] of [...this.#used]) {
      if (over <= 0 || Date.now() - usedAt < this.#restMs) return;
      const backend = this.#ready.get(id);
      const isBusy = backend?.busy || this.#hasProcesses(id);
      if (!backend || isBusy) continue;
      over -= 1;
      await this.#drop(id, backend);
    }
  }

  /** Closes the backend of a conversation that has ended, unless one of its background processes is still running. */
  async release(conversationId: string): Promise<void> {
    const backend = await this.#backends.get(conversationId)?.catch(() => undefined);
    if (!backend || backend.busy || this.#hasProcesses(conversationId)) return;
    await this.#drop(conversationId, backend);
  }

  #hasProcesses(conversationId: string): boolean {
    return this.processes.list(conversationId).some((process) => process.endedAt === null);
  }

  async #drop(id: string, backend: Backend): Promise<void> {
    this.#ready.delete(id);
    this.#backends.delete(id);
    this.#used.delete(id);
    await backend.close();
  }

  async close(): Promise<void> {
    clearInterval(this.#reaper);
    await this.processes.close();
    const backends = await Promise.allSettled(this.#backends.values());
    await Promise.all(backends.map((result) => (result.status === "fulfilled" ? result.value.close() : undefined)));
    this.#backends.clear();
    this.#ready.clear();
  }
}
