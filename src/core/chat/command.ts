// Slash commands: they return data, and each surface renders it.

import type { Conversation, OpenedConversation } from "../conversation.ts";
import type { Human } from "../human.ts";
import type { HandoffStore } from "../store/handoff.ts";
import type { SessionStore } from "../store/session.ts";
import type { UsageLedger } from "../store/usage.ts";
import type { ChatCommandContext, GatewayRequest } from "./chat-command.ts";
import type { TerminalRequest } from "./terminal-request.ts";

export interface CommandContext {
  readonly store: SessionStore;
  readonly handoffs: HandoffStore;
  readonly ledger: UsageLedger;
  readonly opened: OpenedConversation;
  readonly conversation: Conversation;
  readonly source: string;
  /** Answers questions, for commands that need a secret or a confirmation. */
  readonly human?: Human | undefined;
  /** True while a turn runs. */
  readonly busy: boolean;
  /** Switches approval of dangerous commands off or on for this session. */
  setYolo(on: boolean): Promise<void>;
  readonly yolo: boolean;
  /** Every command of this surface, for /help. */
  readonly commands: readonly SlashCommand[];
  /** Columns of the terminal; absent in chats, which wrap themselves and have no monospaced font. */
  readonly width?: number | undefined;
  /** Tasks that the surface runs beside this conversation, one line each. */
  tasks?(): readonly string[];
}

/** One entry of a picker, or of the completion of an argument. */
export interface Choice {
  readonly label: string;
  readonly value: string;
  /** Second column: one short line. */
  readonly description?: string | undefined;
  /** Preview of the selected entry, several lines; a function is called when the entry is selected. */
  readonly detail?: string | (() => Promise<string>) | undefined;
  /** The entry that is in use; with `multiple` the entries that are on. */
  readonly current?: boolean | undefined;
}

/** A key of the picker other than Enter. The command then runs with `args` of the selected entry. */
export interface ChoiceAction {
  /** One character; the picker shows it as Ctrl and this letter, as letters filter the list. */
  readonly key: string;
  readonly label: string;
  /** Asked before the action runs, for what cannot be undone. */
  readonly confirm?: ((choice: Choice) => string) | undefined;
  args(value: string): string;
}

export type CommandAnswer =
  /** `columns`: spaces align the lines in columns, which needs a monospaced font. */
  | { readonly type: "text"; readonly text: string; readonly columns?: boolean | undefined }
  /** Send this to the model as if the user had typed it; `after` waits for the running turn. */
  | {
      readonly type: "send";
      readonly text: string;
      readonly when: "now" | "after";
      /** The text is complete, as from a skill: references in it are not expanded. */
      readonly prepared?: { readonly untrusted: boolean };
    }
  /** Switch to this session, or to a new one. `draft` is put into the terminal's composer. */
  | {
      readonly type: "switch";
      readonly sessionId: string | null;
      readonly title?: string | undefined;
      readonly draft?: string | undefined;
      /** The terminal clears its screen. */
      readonly clear?: boolean | undefined;
    }
  /** Use another model in the same session. */
  | {
      readonly type: "model";
      readonly model: string;
      readonly provider?: string | undefined;
      /** What is worth knowing about the choice: its test, where it was saved. */
      readonly note?: string | undefined;
    }
  /** Let the user pick; the same command then runs with the choice as its argument. */
  | {
      readonly type: "choose";
      readonly title: string;
      readonly choices: readonly Choice[];
      /** Several entries may be chosen; the command runs with these arguments. */
      readonly multiple?: { args(values: readonly string[]): string } | undefined;
      readonly actions?: readonly ChoiceAction[] | undefined;
    }
  /** Something that only the terminal can do. */
  | { readonly type: "terminal"; readonly request: TerminalRequest }
  | { readonly type: "quit" };

/** The answer of a command that runs in a chat without a conversation. */
export type ChatCommandAnswer =
  | Exclude<CommandAnswer, { type: "choose" | "terminal" }>
  | { readonly type: "gateway"; readonly request: GatewayRequest };

export type CommandSurface = "terminal" | "chat";

/** The headings of /help, in their order. */
export const COMMAND_GROUPS = ["Conversation", "Sessions", "Model", "Display", "Tools and skills", "Program"] as const;
export type CommandGroup = (typeof COMMAND_GROUPS)[number];

export interface SlashCommand {
  readonly name: string;
  /** Its heading in /help. */
  readonly group?: CommandGroup | undefined;
  readonly aliases?: readonly string[] | undefined;
  readonly args?: string | undefined;
  readonly summary: string;
  /** May run while a turn runs. */
  readonly whileBusy?: boolean | undefined;
  /** The only surface that has the command; absent: every surface. */
  readonly surface?: CommandSurface | undefined;
  /** Restricts the command to the owner in chats: always, or when the arguments match. Absent: no restriction. */
  readonly ownerOnly?: boolean | RegExp | undefined;
  run(args: string, context: CommandContext): Promise<CommandAnswer>;
  /** Values for the last word of the arguments, for completion. Absent: the words of `args` that are separated by `|`. */
  complete?(args: string, context: CommandContext): Promise<readonly Choice[]>;
  /** Replaces `run` in chats: for commands that need the chat and no conversation. May run while a turn runs. */
  runInChat?(args: string, chat: ChatCommandContext): Promise<ChatCommandAnswer>;
}

export function isForOwner({ ownerOnly = false }: SlashCommand, args: string): boolean {
  return typeof ownerOnly === "boolean" ? ownerOnly : ownerOnly.test(args.trim());
}

/**
 * Finds the command by name or alias, else by a unique prefix. `exit` and `quit` alone leave, where a surface can be left.
 * Null when the line is not a command.
 */
export function parseCommandLine(
  line: string,
  commands: readonly SlashCommand[],
):
  | { readonly command: SlashCommand; readonly args: string }
  | { readonly unknown: string; readonly candidates: readonly string[] }
  | null {
  const trimmed = line.trim();
  const leaves = /^(?:exit|quit)$/i.test(trimmed) ? commands.find((command) => command.name === "quit") : undefined;
  if (leaves) return { command: leaves, args: "" };
  const match = /^\/([A-Za-z][\w-]*)(?:\s+([\s\S]*))?$/.exec(trimmed);
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
