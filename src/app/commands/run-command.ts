// Runs one slash command for a program that uses the library.
import { type CommandAnswer, parseCommandLine } from "../../core/chat/command.ts";
import type { OpenedConversation } from "../../core/conversation.ts";
import { UserError } from "../../core/failure.ts";
import type { Human } from "../../core/human.ts";
import type { App } from "../app.ts";

export interface CommandRun {
  readonly opened: OpenedConversation;
  /** `/usage`, `/model NAME` … */
  readonly line: string;
  /** True while a turn runs. */
  readonly busy: boolean;
  readonly human?: Human | undefined;
  /** Columns of the output; plots are drawn when it is given. */
  readonly width?: number | undefined;
}

/** Throws UserError for a line that is not a command. */
export async function runCommand(app: App, { opened, line, busy, human, width }: CommandRun): Promise<CommandAnswer> {
  const commands = await app.commands("terminal");
  const parsed = parseCommandLine(line, [...commands, ...(await app.skillCommands())]);
  if (!parsed || "unknown" in parsed) {
    const near = parsed?.candidates.map((name) => `/${name}`).join(" ");
    throw new UserError(`There is no command ${parsed ? `/${parsed.unknown}` : JSON.stringify(line)}.`, {
      hint: near ? `One of: ${near}` : "See /help",
    });
  }
  const { command, args } = parsed;
  if (busy && !command.whileBusy)
    throw new UserError(`/${command.name} has to wait for the end of the running turn.`, { hint: "Or interrupt it." });
  return command.run(args, {
    store: app.store,
    handoffs: app.handoffs,
    ledger: app.ledger,
    opened,
    conversation: opened.conversation,
    source: "cli",
    human,
    busy,
    commands,
    width,
    yolo: false,
    setYolo: (on) => app.setYolo(opened.conversation.sessionId, on),
  });
}
