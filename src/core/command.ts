// Slash commands return data; each surface renders it in its own way.
import type { Conversation, OpenedConversation } from "./conversation.ts";
import type { HandoffStore } from "./handoff.ts";
import type { Human } from "./human.ts";
import type { SessionStore } from "./session.ts";
import type { UsageLedger } from "./usage.ts";

export interface CommandContext {
  readonly store: SessionStore;
  readonly handoffs: HandoffStore;
  readonly ledger: UsageLedger;
  readonly opened: OpenedConversation;
  readonly conversation: Conversation;
  readonly source: string;
  /** The user, for commands that ask for a secret or a confirmation. */
  readonly human?: Human | undefined;
  /** True while a turn runs. */
  readonly busy: boolean;
  /** Switches approvals of dangerous commands off or on for this session. */
  setYolo(on: boolean): Promise<void>;
  readonly yolo: boolean;
  /** Every command that can be called here, for /help. */
  readonly commands: readonly SlashCommand[];
}

export type CommandAnswer =
  /** `columns`: the text is a table aligned with spaces, which needs a monospaced font. */
  | { readonly type: "text"; readonly text: string; readonly columns?: boolean | undefined }
  /** Send this to the model as user input; `after` waits for the running turn. */
  | {
      readonly type: "send";
      readonly text: string;
      readonly when: "now" | "after";
      /** The text is complete, as from a skill: references in it are not expanded. */
      readonly prepared?: { readonly untrusted: boolean };
    }
  /** Continue in this session, or in a new one. */
  | { readonly type: "switch"; readonly sessionId: string | null; readonly title?: string | undefined }
  /** Continue with another model in the same session. */
  | { readonly type: "model"; readonly model: string; readonly provider?: string | undefined }
  /** Let the user choose; the same command is run with the choice as its argument. */
  | {
      readonly type: "choose";
      readonly title: string;
      readonly choices: readonly { readonly label: string; readonly value: string }[];
    }
  | { readonly type: "quit" };

export interface SlashCommand {
  readonly name: string;
  readonly aliases?: readonly string[] | undefined;
  readonly args?: string | undefined;
  readonly summary: string;
  /** May run while a turn runs. */
  readonly whileBusy?: boolean | undefined;
  run(args: string, context: CommandContext): Promise<CommandAnswer>;
}

/** Finds the command of an input line: by exact name or alias, else by unique prefix. Null when it is not a command. */
export function parseCommandLine(
  line: string,
  commands: readonly SlashCommand[],
):
  | { readonly command: SlashCommand; readonly args: string }
  | { readonly unknown: string; readonly candidates: readonly string[] }
  | null {
  const match = /^\/([A-Za-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(line.trim());
  if (!match) return null;
  const name = (match[1] ?? "").toLowerCase();
  const args = (match[2] ?? "").trim();
  const exact = commands.find((command) => command.name === name || command.aliases?.includes(name));
  if (exact) return { command: exact, args };
  const starting = commands.filter((command) => command.name.startsWith(name));
  const only = starting.length === 1 ? starting[0] : undefined;
  if (only) return { command: only, args };
  return { unknown: name, candidates: starting.map((command) => command.name) };
}
