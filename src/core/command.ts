// Slash commands answer with data: the terminal draws it one way, a chat platform another.
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
  /** Who can be asked, for commands that need a secret or a word. */
  readonly human?: Human | undefined;
  /** True while a turn runs. */
  readonly busy: boolean;
  /** Lets dangerous commands of this session run without asking, or no longer. */
  setYolo(on: boolean): Promise<void>;
  readonly yolo: boolean;
  /** Every command that can be called here, for /help. */
  readonly commands: readonly SlashCommand[];
}

export type CommandAnswer =
  /** `columns`: its lines are set in columns by spaces, which only a font of one width shows. */
  | { readonly type: "text"; readonly text: string; readonly columns?: boolean | undefined }
  /** Send this to the model as if the person had typed it; `after` waits for the running turn. */
  | {
      readonly type: "send";
      readonly text: string;
      readonly when: "now" | "after";
      /** The text is complete, as from a skill: references in it are not expanded. */
      readonly prepared?: { readonly untrusted: boolean };
    }
  /** Go on in this session, or in a new one. */
  | { readonly type: "switch"; readonly sessionId: string | null; readonly title?: string | undefined }
  /** Go on with another model in the same session. */
  | { readonly type: "model"; readonly model: string; readonly provider?: string | undefined }
  /** Let the person pick; the choice is given to the same command as its argument. */
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

/** The command that a line means: exact name or alias, else a unique prefix. Null when the line is no command. */
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
