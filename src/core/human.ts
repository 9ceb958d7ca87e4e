// The interface through which the agent asks the user. Each surface provides one; cron jobs and subagents use `absentHuman`.

export interface ApprovalRequest {
  /** A description of the action: the command, the file, the address. */
  readonly action: string;
  /** Why the gate stopped it. */
  readonly reason: string;
  /** The parts of the action that the gate stopped, where known; in a long action they are hard to see. */
  readonly flagged?: readonly string[] | undefined;
  /** Stable key of the intent, as allow-list entries store it. */
  readonly intent: string;
  /** The choices to offer; without `always` for one-off risks. */
  readonly choices: readonly ApprovalChoice[];
  readonly toolName: string;
  /** It concerns the agent itself or the owner's keys: a member cannot answer it. */
  readonly ownerOnly?: boolean | undefined;
}

export type ApprovalChoice = "once" | "session" | "always" | "deny";

export type ApprovalAnswer =
  | { readonly choice: ApprovalChoice }
  /** There was no answer in time, or no user to ask. Recorded as a denial. */
  | {
      readonly choice: "deny";
      readonly unattended: true;
      /** Why there was no answer, as a sentence for the model; absent for a time-out. */
      readonly why?: string | undefined;
    };

export interface ClarifyRequest {
  readonly question: string;
  readonly choices: readonly string[];
}

export interface Human {
  /** False where no user can answer: dangerous actions are then denied. */
  readonly present: boolean;
  /** Answers come from a pipe: only what must be asked is asked. */
  readonly piped?: boolean | undefined;
  /** Where the questions appear, for hooks: `gateway`; the terminal when absent. */
  readonly surface?: string | undefined;
  /** The platform of the conversation, for policies: `telegram`, `cron` …; that of the surface when absent. */
  readonly platform?: string | undefined;
  /** The reason why no user can answer, for the model, as the end of a sentence ("no user is available to approve it"). */
  readonly absence?: string | undefined;
  /** The turn is for a user who is not the owner: tools must not read Hermes' homes or secret files. */
  readonly guest?: boolean | undefined;
  /** Called instead of `approve` where no user can answer; the request is denied. */
  onDenied?(request: ApprovalRequest): void;
  approve(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>;
  /** Null when there is no answer. */
  clarify(request: ClarifyRequest, signal: AbortSignal): Promise<string | null>;
  /** Reads a secret without echo; null when refused or impossible. It never reaches the model. */
  secret(prompt: string, signal: AbortSignal): Promise<string | null>;
}

/** For runs without a user: denies every request and returns no answers and no secrets. */
export const absentHuman: Human = {
  present: false,
  approve: async () => ({ choice: "deny", unattended: true }),
  clarify: async () => null,
  secret: async () => null,
};

/** The properties other than the three questions, for wrappers around a `Human`. */
export function copyPresence(
  human: Human,
): Pick<Human, "present" | "surface" | "platform" | "absence" | "guest" | "onDenied"> {
  return {
    present: human.present,
    surface: human.surface,
    platform: human.platform,
    absence: human.absence,
    guest: human.guest,
    onDenied: (request) => human.onDenied?.(request),
  };
}
