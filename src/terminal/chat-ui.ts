// How the interactive conversation is shown: the full screen and the plain mode implement this.
import type { Choice, CommandAnswer, SlashCommand } from "../core/chat/command.ts";
import type { TerminalRequest } from "../core/chat/terminal-request.ts";
import type { OpenedConversation } from "../core/conversation.ts";
import type { AgentEvent } from "../core/event.ts";
import type { Human } from "../core/human.ts";
import type { TypedLine } from "./composer/typed-line.ts";

export interface UiHandlers {
  /** A message that was sent while a turn runs. */
  lineWhileBusy(line: TypedLine): void;
  /** Ctrl-C; `escape` for the Escape key, which never leaves. */
  interrupt(key: "ctrl-c" | "escape"): void;
  /** The terminal was closed. */
  leave(): void;
  /** Values for the argument of a command. */
  complete(command: SlashCommand, args: string): Promise<readonly Choice[]>;
}

/** Where the events of one turn are shown. */
export interface TurnOutput {
  show(event: AgentEvent): void;
  /** The turn is over; nothing is shown after this. */
  end(): void;
}

/** What the status bar shows beside the events of the turn. */
export interface SessionStatus {
  readonly title?: string | undefined;
  readonly busyMode?: string | undefined;
  readonly background?: number | undefined;
  readonly yolo?: boolean | undefined;
}

export type ChooseAnswer = Extract<CommandAnswer, { type: "choose" }>;

export interface ChatUi {
  readonly human: Human;
  /** Columns for text that is laid out by commands. */
  readonly width: number;
  start(handlers: UiHandlers): Promise<void>;
  /** Called after every opening: model, notices, and what was said before when a session was resumed. */
  opened(opened: OpenedConversation, commands: readonly SlashCommand[]): Promise<void>;
  /** The next message at the idle prompt; null at the end of input, or when the signal fires. */
  line(signal: AbortSignal): Promise<TypedLine | null>;
  /** Keeps the message for the history. */
  remember(line: TypedLine): Promise<void>;
  /** Shows the user's message, unless it comes from the program, and what follows. */
  beginTurn(line: TypedLine | null): TurnOutput;
  /** Shows a slash command that was entered, above its answer. */
  command(line: TypedLine): void;
  text(text: string, options?: { readonly columns?: boolean | undefined }): void;
  notice(text: string): void;
  warning(text: string): void;
  error(text: string): void;
  /** Confirms what happens with a message that was sent during a turn. */
  acknowledge(line: TypedLine, what?: string): void;
  /** The arguments with which the command runs again; null when nothing was chosen. */
  choose(answer: ChooseAnswer): Promise<string | null>;
  /** Requests of commands that concern the screen. */
  request(request: Exclude<TerminalRequest, { kind: "background" }>): Promise<void>;
  status(status: SessionStatus): void;
  /** False when nothing was typed. */
  clearDraft(): boolean;
  setDraft(text: string): void;
  bell(): void;
  /** Restores the terminal. Idempotent. */
  close(): void;
}
