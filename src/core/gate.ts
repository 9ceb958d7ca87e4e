// The gate: decides whether an action that executes, writes, sends or fetches may happen.
import type { Human } from "./human.ts";

export type Intent =
  | {
      readonly kind: "command";
      readonly command: string;
      readonly cwd: string;
      readonly backend: string;
      readonly background?: boolean | undefined;
      /** The folder of the conversation; deleting outside of it needs approval. `cwd` when absent. */
      readonly workspace?: string | undefined;
    }
  | {
      readonly kind: "code";
      readonly language: "python" | "javascript";
      readonly code: string;
      readonly cwd: string;
      /** False when the script would run with all permissions of the user. */
      readonly contained?: boolean | undefined;
    }
  /** Text for the standard input of a running program. */
  | {
      readonly kind: "input";
      /** The command that started the program. */
      readonly command: string;
      /** The input it got so far. */
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
  /** A message to another person: untrusted text must not be able to send one. */
  | { readonly kind: "send"; readonly to: string; readonly summary: string }
  /** A lasting change that injected text must not make: memory, skill, cron, config. */
  | {
      readonly kind: "durable";
      readonly what: "memory" | "skill" | "cron" | "config";
      readonly summary: string;
      /** A further reason to ask for approval, also in an untainted turn: "would …". */
      readonly because?: string | undefined;
    };

export interface GateContext {
  readonly sessionId: string;
  readonly toolName: string;
  readonly human: Human;
  readonly tainted: boolean;
  /** Where the untrusted text of a tainted turn came from, for the approval prompt. */
  readonly origin?: string | undefined;
  /** The folder that the conversation works in, wherever its shell is now. */
  readonly workspace?: string | undefined;
  readonly signal: AbortSignal;
}

export type Verdict =
  | {
      readonly allowed: true;
      readonly how: "harmless" | "approved" | "allow_list" | "mode_off" | "sandboxed";
      /** Commands and code: the origin of untrusted text that the output may contain. */
      readonly outside?: string | undefined;
    }
  | {
      readonly allowed: false;
      readonly status: "blocked" | "denied";
      /** The text for the model: the reason, and not to try variants. */
      readonly message: string;
      readonly rule: string;
    };

export interface Gate {
  check(intent: Intent, context: GateContext): Promise<Verdict>;
  /** Clears the denials of the previous turn. */
  beginTurn(sessionId: string): void;
}
