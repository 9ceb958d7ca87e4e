// The gate: every tool that executes or writes on the machine asks it first.
import type { ProgramCall } from "./container.ts";
import type { Human } from "./human.ts";

export type Intent =
  | {
      readonly kind: "command";
      readonly command: string;
      readonly cwd: string;
      readonly backend: string;
      readonly background?: boolean | undefined;
      /** The folder of the conversation, `cwd` when absent; deleting files outside it needs approval. */
      readonly workspace?: string | undefined;
      /** True in a container; false when there should be one and is not; undefined where the machine is the boundary. */
      readonly contained?: boolean | undefined;
    }
  | {
      readonly kind: "code";
      readonly language: "python" | "javascript";
      readonly code: string;
      readonly cwd: string;
      /** False when the script would run without a sandbox. */
      readonly contained?: boolean | undefined;
    }
  /** Text for the standard input of a running program. */
  | {
      readonly kind: "input";
      /** The command that started the program. */
      readonly command: string;
      /** The earlier input of the program. */
      readonly before: string;
      readonly text: string;
      /** True when it has a terminal, where a carriage return ends a line. */
      readonly pty: boolean;
      readonly cwd: string;
      readonly backend: string;
      readonly workspace?: string | undefined;
      /** As for commands. */
      readonly contained?: boolean | undefined;
    }
  | {
      readonly kind: "write";
      readonly path: string;
      readonly cwd: string;
      /** True when the file is deleted, moved or emptied. */
      readonly removes?: boolean | undefined;
      readonly workspace?: string | undefined;
    }
  | { readonly kind: "read"; readonly path: string; readonly cwd: string }
  | { readonly kind: "fetch"; readonly url: string }
  /** A message to another user; untrusted text must not cause one without approval. */
  | { readonly kind: "send"; readonly to: string; readonly summary: string }
  /** A lasting change that injected text must not make: memory, skill, cron, config. */
  | {
      readonly kind: "durable";
      readonly what: "memory" | "skill" | "cron" | "config";
      readonly summary: string;
      /** When set, approval is needed in every turn: the reason, as "would …". */
      readonly because?: string | undefined;
      /** The text that is stored. When the user wrote all of it and asked for it, no approval is needed. */
      readonly text?: string | undefined;
    };

export interface GateContext {
  readonly sessionId: string;
  readonly toolName: string;
  readonly human: Human;
  readonly tainted: boolean;
  /** The source of the untrusted text of a tainted turn, for the approval prompt. */
  readonly origin?: string | undefined;
  /** The folder of the conversation, independent of the shell's current folder. */
  readonly workspace?: string | undefined;
  readonly signal: AbortSignal;
  /** What the user wrote in this conversation, newest last; without text of others. */
  readonly userTexts?: (() => readonly string[]) | undefined;
  /** Stores a lasting change for review, where no user can approve it. Returns its number. */
  readonly propose?:
    | ((change: { readonly what: string; readonly summary: string; readonly origin: string }) => Promise<number>)
    | undefined;
}

export type Verdict =
  | {
      readonly allowed: true;
      readonly how: "harmless" | "approved" | "allow_list" | "mode_off" | "sandboxed";
      /** For commands and code: the source of untrusted text that the output may contain. */
      readonly outside?: string | undefined;
      /** For commands: the programs that it runs, as far as they are known. */
      readonly calls?: readonly ProgramCall[] | undefined;
      /** True when the programs are the whole command: nothing computed, no files written by the shell. */
      readonly exact?: boolean | undefined;
      /** The user approved that the command runs outside the container. */
      readonly leaves?: boolean | undefined;
    }
  | {
      readonly allowed: false;
      readonly status: "blocked" | "denied";
      /** The message for the model: the reason, and not to try variants. */
      readonly message: string;
      readonly rule: string;
    };

/** A model's verdict on one risky action, for `approvals.mode: smart`; `escalate` asks the user. */
export type Judge = (
  question: { readonly action: string; readonly reason: string },
  signal: AbortSignal,
) => Promise<"approve" | "deny" | "escalate">;

export interface Gate {
  check(intent: Intent, context: GateContext): Promise<Verdict>;
  /** Clears the denials of the previous turn. */
  beginTurn(sessionId: string): void;
}
