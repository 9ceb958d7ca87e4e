// The person behind a run: approvals wait for the client to send the answer.
import type { ApprovalAnswer, ApprovalChoice, ApprovalRequest, Human } from "../../core/human.ts";

interface Waiting {
  readonly request: ApprovalRequest;
  answer(answer: ApprovalAnswer): void;
}

export interface RunHumanOptions {
  readonly timeoutMs: number;
  onAsked(request: ApprovalRequest): void;
  onAnswered(request: ApprovalRequest, answer: ApprovalAnswer): void;
}

/** Questions are answered in the order in which they were asked; silence is a denial. */
export class RunHuman implements Human {
  readonly present = true;
  readonly #options: RunHumanOptions;
  readonly #waiting: Waiting[] = [];

  constructor(options: RunHumanOptions) {
    this.#options = options;
  }

  get pending(): number {
    return this.#waiting.length;
  }

  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    return new Promise((resolve) => {
      const give = (answer: ApprovalAnswer) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
        const index = this.#waiting.indexOf(waiting);
        if (index < 0) return;
        this.#waiting.splice(index, 1);
        this.#options.onAnswered(request, answer);
        resolve(answer);
      };
      const leave = () => give({ choice: "deny", unattended: true });
      const waiting: Waiting = { request, answer: give };
      const timer = setTimeout(leave, this.#options.timeoutMs);
      timer.unref();
      this.#waiting.push(waiting);
      if (signal.aborted) return leave();
      signal.addEventListener("abort", leave, { once: true });
      this.#options.onAsked(request);
    });
  }

  /** How many questions were answered: the oldest, or all that are open. */
  answer(choice: ApprovalChoice, all: boolean): number {
    const answered = all ? [...this.#waiting] : this.#waiting.slice(0, 1);
    for (const waiting of answered) {
      // `always` and `session` are offered only where they make sense.
      const allowed = waiting.request.choices.includes(choice);
      waiting.answer({ choice: allowed ? choice : choice === "deny" ? "deny" : "once" });
    }
    return answered.length;
  }

  async clarify(): Promise<string | null> {
    return null;
  }

  async secret(): Promise<string | null> {
    return null;
  }
}
