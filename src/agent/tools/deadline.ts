// The time limit of one tool call. The clock stands still while a person is being asked.
import { type Human, presenceOf } from "../../core/human.ts";

const LONGEST_TIMER_MS = 2_147_483_647;

export class Deadline {
  readonly #controller = new AbortController();
  #leftMs: number;
  #startedAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Questions to the person that are open at the moment. */
  #pauses = 0;
  #stopped = false;

  constructor(ms: number) {
    this.#leftMs = ms;
    this.#run();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get passed(): boolean {
    return this.#controller.signal.aborted;
  }

  pause(): void {
    this.#pauses += 1;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#leftMs -= performance.now() - this.#startedAt;
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.#run();
  }

  #run(): void {
    if (this.#timer !== undefined || this.#stopped || this.#leftMs > LONGEST_TIMER_MS) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(() => this.#controller.abort(), Math.max(0, this.#leftMs));
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/** The person as a tool meets them: asking pauses the tool's deadline, and `onApproval` hears of every request. */
export function pausingHuman(
  human: Human,
  deadline: Deadline,
  onApproval: (action: string, reason: string) => void,
): Human {
  const paused = async <T>(work: () => Promise<T>): Promise<T> => {
    deadline.pause();
    try {
      return await work();
    } finally {
      deadline.resume();
    }
  };
  return {
    ...presenceOf(human),
    approve: (request, signal) => {
      if (human.present) onApproval(request.action, request.reason);
      return paused(() => human.approve(request, signal));
    },
    clarify: (request, signal) => paused(() => human.clarify(request, signal)),
    secret: (prompt, signal) => paused(() => human.secret(prompt, signal)),
  };
}
