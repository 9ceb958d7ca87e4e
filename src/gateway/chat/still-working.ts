// Notices for a chat whose turn takes long: still working, or no progress.

export interface StillWorkingParts {
  /** Time between two notices; 0 for none. */
  readonly everyMs: number;
  /** Time without events before the one warning; 0 for none. */
  readonly warnMs: number;
  /** The running tool, or the last one. */
  tool(): string;
  say(text: string, name: string): void;
}

function minutes(ms: number): string {
  return ms < 90_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
}

export class StillWorking {
  readonly #parts: StillWorkingParts;
  readonly #startedAt = Date.now();
  #timer: NodeJS.Timeout | undefined;
  #warning: NodeJS.Timeout | undefined;
  #count = 0;
  #steps = 0;
  #warned = false;

  constructor(parts: StillWorkingParts) {
    this.#parts = parts;
    if (parts.everyMs > 0) this.#timer = setInterval(() => this.#notify(), parts.everyMs).unref();
    this.reset();
  }

  #notify(): void {
    const tool = this.#parts.tool();
    const parts = [minutes(Date.now() - this.#startedAt), `step ${this.#steps + 1}`, ...(tool ? [`at ${tool}`] : [])];
    this.#parts.say(`⏳ Still working (${parts.join(", ")}). /stop ends it.`, `still${this.#count}`);
    this.#count += 1;
  }

  /** Counts a model call. */
  step(): void {
    this.#steps += 1;
  }

  /** Called for every event of the turn. */
  reset(): void {
    clearTimeout(this.#warning);
    const { warnMs } = this.#parts;
    if (warnMs > 0 && !this.#warned) this.#warning = setTimeout(() => this.#warn(), warnMs).unref();
  }

  #warn(): void {
    this.#warned = true;
    this.#parts.say(`⚠️ No progress for ${minutes(this.#parts.warnMs)}. /stop ends it.`, "silent");
  }

  end(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#warning);
  }
}
