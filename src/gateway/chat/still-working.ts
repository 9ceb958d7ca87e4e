// Words to a chat whose turn takes long: that work goes on, and that it has become silent.

export interface StillWorkingParts {
  /** Between two notices; 0 for none. */
  readonly everyMs: number;
  /** Silence before one warning; 0 for none. */
  readonly warnMs: number;
  /** The tool that runs, or ran last. */
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
  #said = 0;
  #steps = 0;
  #warned = false;

  constructor(parts: StillWorkingParts) {
    this.#parts = parts;
    if (parts.everyMs > 0) this.#timer = setInterval(() => this.#say(), parts.everyMs).unref();
    this.heard();
  }

  #say(): void {
    const tool = this.#parts.tool();
    const parts = [minutes(Date.now() - this.#startedAt), `step ${this.#steps + 1}`, ...(tool ? [`at ${tool}`] : [])];
    this.#parts.say(`⏳ Still working (${parts.join(", ")}). /stop ends it.`, `still${this.#said}`);
    this.#said += 1;
  }

  /** The model was asked once more. */
  step(): void {
    this.#steps += 1;
  }

  /** A sign of life. */
  heard(): void {
    clearTimeout(this.#warning);
    const { warnMs } = this.#parts;
    if (warnMs > 0 && !this.#warned) this.#warning = setTimeout(() => this.#warn(), warnMs).unref();
  }

  #warn(): void {
    this.#warned = true;
    this.#parts.say(`⚠️ Nothing has happened for ${minutes(this.#parts.warnMs)}. /stop ends it.`, "silent");
  }

  end(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#warning);
  }
}
