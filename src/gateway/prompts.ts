// Questions to a person in a chat: approvals and clarifications, answered by button, command or plain text, with a time-out.
import { randomBytes } from "node:crypto";
import type { ApprovalAnswer, ApprovalChoice, ApprovalRequest, ClarifyRequest, Human } from "../core/human.ts";
import type { Button } from "../core/platform.ts";

export interface Asking {
  /** Shows a question in the chat; answers with a way to change it afterwards. */
  show(text: string, buttons: readonly (readonly Button[])[]): Promise<(text: string) => void>;
  readonly buttons: boolean;
  readonly approvalMs: number;
  readonly clarifyMs: number;
  /** Work stands still or goes on: the typing sign follows. */
  waiting(on: boolean): void;
}

interface Question {
  readonly id: string;
  readonly kind: "approval" | "clarify";
  readonly choices: readonly string[];
  /** Of the chat's turn, or of a task beside it. */
  readonly of: "turn" | "beside";
  /** The next plain text is the answer. */
  takesText: boolean;
  resolve(answer: string | null): void;
}

interface Asker {
  readonly asking: Asking;
  readonly of: Question["of"];
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

/** The open questions of one chat session, oldest first. */
export class Prompts {
  readonly #questions: Question[] = [];

  get open(): number {
    return this.#questions.length;
  }

  get approvals(): number {
    return this.#questions.filter((question) => question.kind === "approval").length;
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
    if (clarify[2] === "other") {
      question.takesText = true;
      return "Write your answer as a message.";
    }
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

  /** The turn ends: its questions too. A task beside it goes on, and so do its questions. */
  cancel(): void {
    for (const question of this.#questions.filter(({ of }) => of === "turn")) question.resolve(null);
  }

  #answer(id: string, choice: string): boolean {
    const question = this.#questions.find((each) => each.id === id && each.choices.includes(choice));
    question?.resolve(choice);
    return question !== undefined;
  }

  #wait(make: Omit<Question, "resolve">, signal: AbortSignal, ms: number): Promise<string | null> {
    return new Promise((settle) => {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
      const resolve = (answer: string | null) => {
        const at = this.#questions.indexOf(question);
        if (at < 0) return;
        this.#questions.splice(at, 1);
        limit.removeEventListener("abort", expired);
        settle(answer);
      };
      const expired = () => resolve(null);
      const question: Question = { ...make, resolve };
      this.#questions.push(question);
      limit.addEventListener("abort", expired);
      if (limit.aborted) expired();
    });
  }

  async #approve({ asking, of }: Asker, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const id = newId();
    const action = request.action.length > SHOWN ? `${request.action.slice(0, SHOWN)}…` : request.action;
    const question = `⚠️ ${request.reason}\n\n\`\`\`\n${action}\n\`\`\``;
    const how = asking.buttons
      ? ""
      : `\n\nAnswer with /approve${request.choices.includes("session") ? ", /approve session" : ""} or /deny.`;
    const buttons = request.choices.map((choice) => [{ label: LABELS[choice], data: `ea:${choice}:${id}` }]);
    const answered = this.#wait(
      { id, kind: "approval", choices: request.choices, of, takesText: false },
      signal,
      asking.approvalMs,
    );
    asking.waiting(true);
    const change = await asking.show(question + how, asking.buttons ? buttons : []);
    const choice = (await answered) as ApprovalChoice | null;
    asking.waiting(false);
    change(`${question}\n\n${choice === null ? "⌛ No answer in time: denied." : LABELS[choice]}`);
    return choice === null ? { choice: "deny", unattended: true } : { choice };
  }

  async #clarify({ asking, of }: Asker, request: ClarifyRequest, signal: AbortSignal): Promise<string | null> {
    const id = newId();
    const numbered = request.choices.map((choice, index) => `${index + 1}. ${choice}`).join("\n");
    const withButtons = asking.buttons && request.choices.length > 0;
    const rows = request.choices.map((choice, index) => [{ label: choice.slice(0, 60), data: `cl:${id}:${index}` }]);
    const hint =
      request.choices.length > 0 && !withButtons ? `\n${numbered}\n\nReply with a number or your own words.` : "";
    const text = `❓ ${request.question}${hint}`;
    const answered = this.#wait(
      { id, kind: "clarify", choices: request.choices, of, takesText: true },
      signal,
      asking.clarifyMs,
    );
    asking.waiting(true);
    const change = await asking.show(
      text,
      withButtons ? [...rows, [{ label: "✏️ Other", data: `cl:${id}:other` }]] : [],
    );
    const answer = await answered;
    asking.waiting(false);
    change(`❓ ${request.question}\n\n${answer === null ? "⌛ No answer in time." : `→ ${answer}`}`);
    return answer;
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
