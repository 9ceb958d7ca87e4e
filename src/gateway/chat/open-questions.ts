// The open questions of all chats: an owner can answer those of guests from another chat.
import type { Role } from "../../core/chat/role.ts";
import type { ApprovalChoice } from "../../core/human.ts";

/** The user who answers a question. */
export interface Answerer {
  readonly role: Role;
  readonly userId: string | null;
}

export const NOT_YOURS_TO_ANSWER = "This question is not yours to answer.";

/** The questions of one chat. */
interface ChatQuestions {
  press(data: string, by: Answerer): string | null;
  answer(id: string, choice: string): boolean;
}

interface Open {
  readonly prompts: ChatQuestions;
  readonly kind: "approval" | "clarify";
}

export class OpenQuestions {
  readonly #open = new Map<string, Open>();
  /** The chat in which an owner sees the question, by question id. */
  readonly #places = new Map<string, string>();

  add(id: string, question: Open): void {
    this.#open.set(id, question);
  }

  shownIn(id: string, place: string): void {
    if (this.#open.has(id)) this.#places.set(id, place);
  }

  remove(id: string): void {
    this.#open.delete(id);
    this.#places.delete(id);
  }

  /** A button of another chat's question: the text to show to the user; null when no such question is open. */
  press(data: string, by: Answerer): string | null {
    const id = /^(?:ea:\w+:(\w+)|cl:(\w+):\w+)$/.exec(data);
    const question = this.#open.get(id?.[1] ?? id?.[2] ?? "");
    if (!question) return null;
    return question.kind === "clarify" ? NOT_YOURS_TO_ANSWER : question.prompts.press(data, by);
  }

  /** Answers the approvals shown in a chat, or the one with that id. Returns how many were answered. */
  decide(
    choice: ApprovalChoice,
    which: { readonly id?: string | undefined; readonly place: string; readonly all: boolean },
  ): number {
    const ids =
      which.id === undefined ? [...this.#places].filter(([, at]) => at === which.place).map(([id]) => id) : [which.id];
    const chosen = which.all ? ids : ids.slice(0, 1);
    return chosen.filter((id) => {
      const question = this.#open.get(id);
      if (question?.kind !== "approval") return false;
      return question.prompts.answer(id, choice) || question.prompts.answer(id, "once");
    }).length;
  }
}
