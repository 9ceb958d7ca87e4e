// A time limit that stands still while a person is being asked: a slow answer must not end the script.
import { type Human, presenceOf } from "../../core/human.ts";

export class PausableClock {
  #left: number;
  #since = 0;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #onEnd: (() => void) | undefined;

  constructor(milliseconds: number) {
    this.#left = milliseconds;
  }

  start(onEnd: () => void): void {
    this.#onEnd = onEnd;
    this.#arm();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#onEnd = undefined;
  }

  #arm(): void {
    if (!this.#onEnd || this.#waiting > 0) return;
    this.#since = Date.now();
    this.#timer = setTimeout(this.#onEnd, this.#left);
  }

  async #while<T>(question: () => Promise<T>): Promise<T> {
    if (this.#waiting++ === 0 && this.#onEnd) {
      clearTimeout(this.#timer);
      this.#left = Math.max(0, this.#left - (Date.now() - this.#since));
    }
    try {
      return await question();
    } finally {
      this.#waiting--;
      this.#arm();
    }
  }

  /** The same person, asked while the clock stands still. */
  untimed(human: Human): Human {
    return {
      ...presenceOf(human),
      approve: (request, signal) => this.#while(() => human.approve(request, signal)),
      clarify: (request, signal) => this.#while(() => human.clarify(request, signal)),
      secret: (prompt, signal) => this.#while(() => human.secret(prompt, signal)),
    };
  }
}
