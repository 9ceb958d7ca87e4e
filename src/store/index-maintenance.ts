// Finishes an unfinished search index, in small steps between other writes.
import type { Connection } from "./sqlite/connection/connection.ts";
import { readPlan, rebuildStep, type StepResult } from "./sqlite/index/rebuild.ts";

const PAUSE_MS = 15;
const RETRY_MS = 5000;

export class IndexMaintenance {
  readonly #connection: Connection;
  readonly #notice: (text: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(connection: Connection, notice: (text: string) => void) {
    this.#connection = connection;
    this.#notice = notice;
  }

  /** Starts the background work when there is any; calls while it runs change nothing. */
  async start(): Promise<void> {
    if (this.#stopped || this.#timer || this.#connection.volume === "read_only") return;
    const plan = await this.#connection.read(({ db }) => readPlan(db));
    if (plan !== undefined && !this.#timer) this.#schedule(PAUSE_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** One step now; undefined when nothing is left. */
  step(): Promise<StepResult | undefined> {
    return this.#connection.exclusive((db) => rebuildStep(db));
  }

  #schedule(delay: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#tick(), delay);
    // Does not keep the process alive; the next process continues.
    this.#timer.unref();
  }

  async #tick(): Promise<void> {
    try {
      const more = await this.step();
      this.#timer = undefined;
      if (more) this.#schedule(PAUSE_MS);
    } catch (error) {
      if (this.#stopped) return;
      this.#notice(`Rebuilding the search index was interrupted: ${error instanceof Error ? error.message : error}`);
      this.#schedule(RETRY_MS);
    }
  }
}
