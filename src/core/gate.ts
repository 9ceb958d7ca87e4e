// The one choke point: everything that executes or writes on the machine asks here first.
import type { Human } from "./human.ts";

export type Intent =
  | {
      readonly kind: "command";
      readonly command: string;
      readonly cwd: string;
      readonly backend: string;
      readonly background?: boolean | undefined;
      /** The folder of the conversation; deleting outside of it is asked for. `cwd` when absent. */
      readonly workspace?: string | undefined;
    }
  | {
      readonly kind: "code";
      readonly language: "python" | "javascript";
      readonly code: string;
      readonly cwd: string;
      /** False when the script would run with all rights of the person. */
      readonly contained?: boolean | undefined;
    }
  /** Text for the standard input of a program that already runs. */
  | {
      readonly kind: "input";
      /** The command that started the program. */
      readonly command: string;
      /** What it was given so far. */
      readonly before: string;
      readonly text: string;
      /** It has a terminal: a carriage return ends a line. */
      readonly pty: boolean;
      readonly cwd: string;
      readonly backend: string;
      readonly workspace?: string | undefined;
    }
  | {
      readonly kind: "write";
      readonly path: string;
      readonly cwd: string;
      /** The file is deleted, moved away or emptied. */
      readonly removes?: boolean | undefined;
      readonly workspace?: string | undefined;
    }
  | { readonly kind: "read"; readonly path: string; readonly cwd: string }
  | { readonly kind: "fetch"; readonly url: string }
  /** A message to somebody else: text from outside must not write to people by itself. */
  | { readonly kind: "send"; readonly to: string; readonly summary: string }
  /** A durable change that injected text must not make: memory, skill, cron, config. */
  | {
      readonly kind: "durable";
      readonly what: "memory" | "skill" | "cron" | "config";
      readonly summary: string;
      /** A person is asked for this reason too, whatever was read: "would …". */
      readonly because?: string | undefined;
    };

export interface GateContext {
  readonly sessionId: string;
  readonly toolName: string;
  readonly human: Human;
  readonly tainted: boolean;
  /** Where the outside text of a tainted turn came from, for the question to the person. */
  readonly origin?: string | undefined;
  /** The folder that the conversation works in, wherever its shell is now. */
  readonly workspace?: string | undefined;
  readonly signal: AbortSignal;
}

export type Verdict =
  | {
      readonly allowed: true;
      readonly how: "harmless" | "approved" | "allow_list" | "mode_off" | "sandboxed";
      /** Commands and code: where text from outside the workspace comes from that the output may hold. */
      readonly outside?: string | undefined;
    }
  | {
      readonly allowed: false;
      readonly status: "blocked" | "denied";
      /** What the model is told: why, and not to try variants. */
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
  /** Denials are remembered for one turn; a new turn starts clean. */
  beginTurn(sessionId: string): void;
}
