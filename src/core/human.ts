// The person at a surface. Each surface supplies one; cron jobs and subagents get one that denies.

export interface ApprovalRequest {
  /** What will happen, in words: the command, the file, the address. */
  readonly action: string;
  /** Why the gate stopped it. */
  readonly reason: string;
  /** The parts of the action that the gate stopped, as far as they are known: a long action hides them. */
  readonly flagged?: readonly string[] | undefined;
  /** Stable key of the intent: what an allow-list entry remembers. */
  readonly intent: string;
  /** Choices that make sense here; `always` is left out for one-off risks. */
  readonly choices: readonly ApprovalChoice[];
  readonly toolName: string;
}

export type ApprovalChoice = "once" | "session" | "always" | "deny";

export type ApprovalAnswer =
  | { readonly choice: ApprovalChoice }
  /** Nobody answered in time, or nobody is there: a recorded denial. */
  | {
      readonly choice: "deny";
      readonly unattended: true;
      /** Why nobody answered, for the model, as a sentence; absent when the time ran out. */
      readonly why?: string | undefined;
    };

export interface ClarifyRequest {
  readonly question: string;
  readonly choices: readonly string[];
}

export interface Human {
  /** False where no person can answer: then dangerous means denied. */
  readonly present: boolean;
  /** Where the questions appear, for those who watch approvals: `gateway`; the terminal when absent. */
  readonly surface?: string | undefined;
  /** Where nobody can answer: why, for the model, as the end of a sentence ("no user is available to approve it"). */
  readonly absence?: string | undefined;
  /** The turn is for somebody who is not the owner: tools read nothing of Hermes' homes and no secret files. */
  readonly guest?: boolean | undefined;
  /** Told of a question that was not asked, because nobody is there, and counts as a no. */
  unasked?(request: ApprovalRequest): void;
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** Null when nobody answers. */
  clarify(request: ClarifyRequest, signal: AbortSignal): Promise<string | null>;
  /** Reads a secret without echo; null when refused or impossible. It never reaches the model. */
  secret(prompt: string, signal: AbortSignal): Promise<string | null>;
}

/** For runs without a person: denies, answers nothing, gives no secret. */
export const nobody: Human = {
  present: false,
  approve: async () => ({ choice: "deny", unattended: true }),
  clarify: async () => null,
  secret: async () => null,
};

/** Whether somebody is there, and what happens when not: for those who wrap a person's answers. */
export function presenceOf(human: Human): Pick<Human, "present" | "surface" | "absence" | "guest" | "unasked"> {
  return {
    present: human.present,
    ...(human.surface === undefined ? {} : { surface: human.surface }),
    ...(human.absence === undefined ? {} : { absence: human.absence }),
    ...(human.guest ? { guest: true } : {}),
    unasked: (request) => human.unasked?.(request),
  };
}
