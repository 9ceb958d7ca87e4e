// The `Human` of a run: approvals wait until the client sends the answer.
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

/** Questions are answered in order; a time-out denies. */
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
      const settle = (answer: ApprovalAnswer) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", denyUnattended);
        const index = this.#waiting.indexOf(waiting);
        if (index < 0) return;
        this.#waiting.splice(index, 1);
        this.#options.onAnswered(request, answer);
        resolve(answer);
      };
      const denyUnattended = () => settle({ choice: "deny", unattended: true });
      const waiting: Waiting = { request, answer: settle };
      const timer = setTimeout(denyUnattended, this.#options.timeoutMs);
      timer.unref();
      this.#waiting.push(waiting);
      if (signal.aborted) return denyUnattended();
      signal.addEventListener("abort", denyUnattended, { once: true });
      this.#options.onAsked(request);
    });
  }

  /** Answers the oldest question, or all open ones; returns how many. */
  answer(choice: ApprovalChoice, all: boolean): number {
    const answered = all ? [...this.#waiting] : this.#waiting.slice(0, 1);
    for (const waiting of answered) {
      // Not every question offers `always` and `session`.
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
