// Questions to the user of a chat: approvals and clarifications, answered by button, command or text, with a time-out.
import { randomBytes } from "node:crypto";
import type { Button } from "../../core/chat/platform.ts";
import { RIGHTS, type Role } from "../../core/chat/role.ts";
import type { ApprovalAnswer, ApprovalChoice, ApprovalRequest, ClarifyRequest, Human } from "../../core/human.ts";
import { joinSignals } from "../../lib/async/joined-signal.ts";
import { approvalText, type QuestionText, visibleLine } from "./approval-text.ts";
import { type Answerer, NOT_YOURS_TO_ANSWER, type OpenQuestions } from "./open-questions.ts";

type Buttons = readonly (readonly Button[])[];
type Change = (text: string) => void;

/** What the chat of a question supports. */
export interface QuestionPlace {
  readonly buttons: boolean;
  /** Longest message; 0 for no limit. */
  readonly maxLength: number;
}

/** Asks an owner about a guest's turn. */
export interface OwnerAsking {
  /** Who asks, and where; shown to the owner. */
  readonly guest: string;
  /** Shows the question to an owner. `problem`, a part of a sentence, when none can be reached. */
  show(
    make: (place: QuestionPlace) => { readonly question: QuestionText; readonly buttons: Buttons },
  ): Promise<{ readonly change: Change; readonly place: string } | { readonly problem: string }>;
}

export interface Asking extends QuestionPlace {
  /** Shows a question in the chat. Returns a function that replaces its text. */
  show(question: QuestionText, buttons: Buttons): Promise<Change>;
  readonly approvalMs: number;
  readonly clarifyMs: number;
  /** Role of the sender of the turn. */
  readonly role: Role;
  readonly userId: string | null;
  /** Set for a guest's turn: an owner has to approve. */
  readonly owner?: OwnerAsking | undefined;
  /** The text below a question that was closed because its turn ended. */
  closed(): string;
  /** Called when the turn starts and when it stops waiting; controls the typing indicator. */
  waiting(on: boolean): void;
}

interface Question {
  readonly id: string;
  readonly kind: "approval" | "clarify";
  readonly choices: readonly string[];
  /** Asked by the chat's turn, or by a background task. */
  readonly askedBy: "turn" | "background";
  /** A member who may answer the question; owners always may. */
  readonly member?: string | undefined;
  resolve(answer: string | null): void;
}

interface Asker {
  readonly asking: Asking;
  readonly askedBy: Question["askedBy"];
}

interface Asked extends Pick<Question, "id" | "kind" | "choices" | "member"> {
  readonly question: QuestionText;
  /** How to answer; empty where buttons show it. */
  readonly hint: string;
  readonly buttons: Buttons;
  readonly waitMs: number;
  /** The text below the answered question; `answer` is null after a time-out. */
  end(answer: string | null): string;
}

type Waited = Pick<Asked, "id" | "kind" | "choices" | "waitMs" | "member">;

const LABELS: { readonly [choice in ApprovalChoice]: string } = {
  once: "✅ Once",
  session: "🕐 This session",
  always: "♾ Always",
  deny: "❌ Deny",
};

function approvalEnd(answer: string | null): string {
  return answer === null ? "⌛ No answer in time: denied." : LABELS[answer as ApprovalChoice];
}

function newId(): string {
  return randomBytes(4).toString("hex");
}

/** True when the turn was stopped; false for a time-out. */
function wasEnded(signal: AbortSignal): boolean {
  return signal.aborted && !(signal.reason instanceof Error && signal.reason.name === "TimeoutError");
}

/** The open questions of one chat session, oldest first. */
export class Prompts {
  readonly #questions: Question[] = [];
  readonly #open: OpenQuestions | undefined;

  /** `open` collects the questions of all chats, so that owners can answer those of guests from another chat. */
  constructor(open?: OpenQuestions) {
    this.#open = open;
  }

  get open(): number {
    return this.#questions.length;
  }

  /** The chat's turn waits for an answer. */
  get blocksTurn(): boolean {
    return this.#questions.some(({ askedBy }) => askedBy === "turn");
  }

  /** True when the next plain text answers a question. */
  get takesText(): boolean {
    return this.#questions.some((question) => question.kind === "clarify");
  }

  /** Number of open approvals. */
  get approvals(): number {
    return this.#questions.filter(({ kind }) => kind === "approval").length;
  }

  /** A pressed button: the text to show to the user, or null when the question is closed. Only owners may approve. */
  press(data: string, by: Answerer): string | null {
    const approval = /^ea:(once|session|always|deny):(\w+)$/.exec(data);
    if (approval) {
      const [, choice = "deny", id = ""] = approval;
      const asked = this.#questions.find((each) => each.id === id);
      if (!asked) return null;
      const isMembers = by.role === "member" && asked.member !== undefined && asked.member === by.userId;
      if (!RIGHTS[by.role].configures && !isMembers) return NOT_YOURS_TO_ANSWER;
      return this.answer(id, choice) ? choice : null;
    }
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

  /** `/approve [all] [session|always]` and `/deny [all]`: how many were answered. For a member only the member's own. */
  decide(choice: ApprovalChoice, all: boolean, member?: string): number {
    const open = this.#questions.filter(
      (question) => question.kind === "approval" && (member === undefined || question.member === member),
    );
    const chosen = all ? open : open.slice(0, 1);
    for (const question of chosen) question.resolve(question.choices.includes(choice) ? choice : "once");
    return chosen.length;
  }

  /** False when there is no such question, or it does not offer that choice. */
  answer(id: string, choice: string): boolean {
    const question = this.#questions.find((each) => each.id === id && each.choices.includes(choice));
    question?.resolve(choice);
    return question !== undefined;
  }

  #wait(
    { id, kind, choices, waitMs, member }: Waited,
    askedBy: Question["askedBy"],
    signal: AbortSignal,
  ): Promise<string | null> {
    return new Promise((settle) => {
      const resolve = (answer: string | null) => {
        const at = this.#questions.indexOf(question);
        if (at < 0) return;
        this.#questions.splice(at, 1);
        this.#open?.remove(id);
        limit.release();
        settle(answer);
      };
      const limit = joinSignals([signal], waitMs);
      const question: Question = { id, kind, choices, askedBy, member, resolve };
      this.#questions.push(question);
      this.#open?.add(id, { prompts: this, kind });
      if (limit.signal.aborted) resolve(null);
      else limit.signal.addEventListener("abort", () => resolve(null));
    });
  }

  /** Null after a time-out. Rejects when the question cannot be shown; it is closed then. */
  async #ask({ asking, askedBy }: Asker, asked: Asked, signal: AbortSignal): Promise<string | null> {
    const answered = this.#wait(asked, askedBy, signal);
    asking.waiting(true);
    try {
      const { text } = asked.question;
      const change = await asking.show({ ...asked.question, text: text + asked.hint }, asked.buttons);
      const answer = await answered;
      const closed = answer === null && wasEnded(signal);
      change(`${text}\n\n${closed ? asking.closed() : asked.end(answer)}`);
      return answer;
    } finally {
      this.#questions.find(({ id }) => id === asked.id)?.resolve(null);
      asking.waiting(false);
    }
  }

  /** The question in the form that the chat supports; `guest` names the guest when an owner is asked. */
  #approval(id: string, request: ApprovalRequest, place: QuestionPlace, guest?: string) {
    const { choices } = request;
    const question = approvalText(request, place.maxLength, guest);
    const name = guest === undefined ? "" : ` ${id}`;
    const session = choices.includes("session") ? `, /approve${name} session` : "";
    const hint = place.buttons ? "" : `\n\nAnswer with /approve${name}${session} or /deny${name}.`;
    const buttons = choices.map((choice) => [{ label: LABELS[choice], data: `ea:${choice}:${id}` }]);
    return { question, hint, buttons: place.buttons ? buttons : [] };
  }

  async #approve(asker: Asker, given: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    // An answer for ever would change the owner's configuration.
    const { choices: offered } = given;
    const choices = asker.asking.role === "member" ? offered.filter((choice) => choice !== "always") : offered;
    const request = { ...given, choices };
    const { asking } = asker;
    const { approvesOwn, configures } = RIGHTS[asking.role];
    if (!approvesOwn || (request.ownerOnly && !configures)) return this.#askOwner(asker, request, signal);
    const id = newId();
    const asked: Asked = {
      ...{ id, kind: "approval", choices: request.choices, waitMs: asking.approvalMs },
      member: asking.role === "member" ? (asking.userId ?? undefined) : undefined,
      ...this.#approval(id, request, asking),
      end: approvalEnd,
    };
    const choice = (await this.#ask(asker, asked, signal)) as ApprovalChoice | null;
    return choice === null ? { choice: "deny", unattended: true } : { choice };
  }

  /** Asks an owner about a guest's turn, and tells the guest that and the outcome. */
  async #askOwner({ asking, askedBy }: Asker, request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer> {
    const id = newId();
    const { owner, approvalMs: waitMs } = asking;
    const answered = this.#wait({ id, kind: "approval", choices: request.choices, waitMs }, askedBy, signal);
    asking.waiting(true);
    let asked = "";
    try {
      const shown = (await owner?.show((place) => {
        const { question, hint, buttons } = this.#approval(id, request, place, owner.guest);
        asked = question.text;
        return { question: { ...question, text: question.text + hint }, buttons };
      })) ?? { problem: "this agent has no owner" };
      const what = `🔐 It ${visibleLine(request.reason)}. Only an owner of this agent can allow that`;
      if ("problem" in shown) {
        await asking.show({ text: `${what}, and ${shown.problem}. It is not run.` }, []);
        return { choice: "deny", unattended: true, why: `only an owner can allow it, and ${shown.problem}.` };
      }
      this.#open?.shownIn(id, shown.place);
      const changeNotice = await asking.show({ text: `${what}; the owner was asked.` }, []);
      const choice = (await answered) as ApprovalChoice | null;
      const end = choice === null && wasEnded(signal) ? asking.closed() : approvalEnd(choice);
      shown.change(`${asked}\n\n${end}`);
      changeNotice(`${what}.\n\n${end}`);
      return choice === null ? { choice: "deny", unattended: true } : { choice };
    } finally {
      this.#questions.find((question) => question.id === id)?.resolve(null);
      asking.waiting(false);
    }
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
      question: { text: `❓ ${question}` },
      hint,
      buttons: withButtons ? [...rows, [{ label: "✏️ Other", data: `cl:${id}:other` }]] : [],
      end: (answer) => (answer === null ? "⌛ No answer in time." : `→ ${answer}`),
    };
    return this.#ask(asker, asked, signal);
  }

  /** The user of this chat, for tools. */
  human(asking: () => Asking, askedBy: Question["askedBy"] = "turn"): Human {
    return {
      // Read at each use: in a shared chat the next turn may be another user's.
      get guest() {
        return !RIGHTS[asking().role].usesHome;
      },
      present: true,
      surface: "gateway",
      approve: (request, signal) => this.#approve({ asking: asking(), askedBy }, request, signal),
      clarify: (request, signal) => this.#clarify({ asking: asking(), askedBy }, request, signal),
      // Chats do not ask for passwords: these would stay in the history.
      secret: async () => null,
    };
  }
}
