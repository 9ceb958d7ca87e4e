// Questions to a person in a chat: approvals and clarifications, answered by button, command or plain text, with a time-out.
import { randomBytes } from "node:crypto";
import type { ApprovalAnswer, ApprovalChoice, ApprovalRequest, ClarifyRequest, Human } from "../core/human.ts";
import type { Button } from "../core/platform.ts";
import { joinSignals } from "../lib/joined-signal.ts";

export interface Asking {
  /** Shows a question in the chat; answers with a way to change it afterwards. */
  show(text: string, buttons: readonly (readonly Button[])[]): Promise<(text: string) => void>;
  readonly buttons: boolean;
  readonly approvalMs: number;
  readonly clarifyMs: number;
  /** Under a question that ends unanswered because the work that asked it was ended. */
  closed(): string;
  /** Work stands still or goes on: the typing sign follows. */
  waiting(on: boolean): void;
}

interface Question {
  readonly id: string;
  readonly kind: "approval" | "clarify";
  readonly choices: readonly string[];
  /** Of the chat's turn, or of a task beside it. */
  readonly of: "turn" | "beside";
  resolve(answer: string | null): void;
}

interface Asker {
  readonly asking: Asking;
  readonly of: Question["of"];
}

interface Asked extends Pick<Question, "id" | "kind" | "choices"> {
  readonly question: string;
  /** How to answer, where that must be said. */
  readonly hint: string;
  readonly buttons: readonly (readonly Button[])[];
  readonly waitMs: number;
  /** What stands below the question afterwards; null when nobody answered in time. */
  end(answer: string | null): string;
}

const LABELS: { readonly [choice in ApprovalChoice]: string } = {
  once: "✅ Once",
  session: "🕐 This session",
  always: "♾ Always",
  deny: "❌ Deny",
};
const SHOWN = 1_500;

function newId(): string {
  return randomBytes(4).toString("hex");
}

/** Somebody ended the work, as opposed to a limit that ran out. */
function wasEnded(signal: AbortSignal): boolean {
  return signal.aborted && !(signal.reason instanceof Error && signal.reason.name === "TimeoutError");
}

/** The open questions of one chat session, oldest first. */
export class Prompts {
  readonly #questions: Question[] = [];

  get open(): number {
    return this.#questions.length;
  }

  /** The chat's turn cannot go on without the person. */
  get holdTurn(): boolean {
    return this.#questions.some(({ of }) => of === "turn");
  }

  /** True when the next plain text answers a question. */
  get takesText(): boolean {
    return this.#questions.some((question) => question.kind === "clarify");
  }

  /** A pressed button: what to tell the presser, or null when the question is gone. */
  press(data: string): string | null {
    const approval = /^ea:(once|session|always|deny):(\w+)$/.exec(data);
    if (approval) return this.#answer(approval[2] ?? "", approval[1] ?? "deny") ? `${approval[1]}` : null;
    const clarify = /^cl:(\w+):(\d+|other)$/.exec(data);
    if (!clarify) return null;
    const question = this.#questions.find((each) => each.id === clarify[1]);
    if (!question) return null;
    if (clarify[2] === "other") return "Write your answer as a message.";
    const choice = question.choices[Number(clarify[2])] ?? "";
    question.resolve(choice);
    return choice;
  }

  /** Plain text for an open clarification. False when none is open. */
  text(text: string): boolean {
    const question = this.#questions.find((each) => each.kind === "clarify");
    if (!question) return false;
    const chosen = /^\d+$/.test(text.trim()) ? question.choices[Number(text.trim()) - 1] : undefined;
    question.resolve(chosen ?? text);
    return true;
  }

  /** `/approve [all] [session|always]` and `/deny [all]`: how many were answered. */
  decide(choice: ApprovalChoice, all: boolean): number {
    const open = this.#questions.filter((question) => question.kind === "approval");
    const chosen = all ? open : open.slice(0, 1);
    for (const question of chosen) question.resolve(question.choices.includes(choice) ? choice : "once");
    return chosen.length;
  }

  #answer(id: string, choice: string): boolean {
    const question = this.#questions.find((each) => each.id === id && each.choices.includes(choice));
    question?.resolve(choice);
    return question !== undefined;
  }

  #wait({ id, kind, choices, waitMs }: Asked, of: Question["of"], signal: AbortSignal): Promise<string | null> {
    return new Promise((settle) => {
      const resolve = (answer: string | null) => {
        const at = this.#questions.indexOf(question);
        if (at < 0) return;
        this.#questions.splice(at, 1);
        limit.release();
        settle(answer);
      };
      const limit = joinSignals([signal], waitMs);
      const question: Question = { id, kind, choices, of, resolve };
      this.#questions.push(question);
      if (limit.signal.aborted) resolve(null);
      else limit.signal.addEventListener("abort", () => resolve(null));
    });
  }

  /** Null when nobody answers in time. Rejects when it cannot be shown; then it is no longer open either. */
  async #ask({ asking, of }: Asker, asked: Asked, signal: AbortSignal): Promise<string | null> {
    const answered = this.#wait(asked, of, signal);
    asking.waiting(true);
    try {
      const change = await asking.show(asked.question + asked.hint, asked.buttons);
      const answer = await answered;
      const closed = answer === null && wasEnded(signal);
      change(`${asked.question}\n\n${closed ? asking.closed() : asked.end(answer)}`);
      return answer;
    } finally {
      this.#questions.find(({ id }) => id === asked.id)?.resolve(null);
      asking.waiting(false);
    }
  }

  async #approve(asker: Asker, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const { buttons: withButtons, approvalMs } = asker.asking;
    const { choices } = request;
    const id = newId();
    const action = request.action.length > SHOWN ? `${request.action.slice(0, SHOWN)}…` : request.action;
    const question = `⚠️ ${request.reason}\n\n\`\`\`\n${action}\n\`\`\``;
    const how = `\n\nAnswer with /approve${choices.includes("session") ? ", /approve session" : ""} or /deny.`;
    const asked: Asked = {
      ...{ id, kind: "approval", choices, waitMs: approvalMs },
      question,
      hint: withButtons ? "" : how,
      buttons: withButtons ? choices.map((choice) => [{ label: LABELS[choice], data: `ea:${choice}:${id}` }]) : [],
      end: (answer) => (answer === null ? "⌛ No answer in time: denied." : LABELS[answer as ApprovalChoice]),
    };
    const choice = (await this.#ask(asker, asked, signal)) as ApprovalChoice | null;
    return choice === null ? { choice: "deny", unattended: true } : { choice };
  }

  #clarify(asker: Asker, { question, choices }: ClarifyRequest, signal: AbortSignal): Promise<string | null> {
    const { buttons: canPress, clarifyMs } = asker.asking;
    const id = newId();
    const withButtons = canPress && choices.length > 0;
    const rows = choices.map((choice, index) => [{ label: choice.slice(0, 60), data: `cl:${id}:${index}` }]);
    const numbered = choices.map((choice, index) => `${index + 1}. ${choice}`).join("\n");
    const hint = choices.length > 0 && !withButtons ? `\n${numbered}\n\nReply with a number or your own words.` : "";
    const asked: Asked = {
      ...{ id, kind: "clarify", choices, waitMs: clarifyMs },
      question: `❓ ${question}`,
      hint,
      buttons: withButtons ? [...rows, [{ label: "✏️ Other", data: `cl:${id}:other` }]] : [],
      end: (answer) => (answer === null ? "⌛ No answer in time." : `→ ${answer}`),
    };
    return this.#ask(asker, asked, signal);
  }

  /** The person in this chat, as tools see them. */
  human(asking: () => Asking, of: Question["of"] = "turn"): Human {
    return {
      present: true,
      surface: "gateway",
      approve: (request, signal) => this.#approve({ asking: asking(), of }, request, signal),
      clarify: (request, signal) => this.#clarify({ asking: asking(), of }, request, signal),
      // A chat is no place for passwords: they would stay in its history.
      secret: async () => null,
    };
  }
}
