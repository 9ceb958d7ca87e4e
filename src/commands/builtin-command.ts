// The type of the built-in slash commands, and a helper for those that reply with text.

import type {
  CommandAnswer,
  CommandContext,
  CommandGroup,
  CommandSurface,
  SlashCommand,
} from "../core/chat/command.ts";
import { UserError } from "../core/failure.ts";

/** `ownerOnly` and `group` are required, so that every new command decides them. */
export interface BuiltinCommand extends SlashCommand {
  readonly ownerOnly: boolean | RegExp;
  readonly group: CommandGroup;
  /** False where the configuration hides the command. */
  isOffered?(surface: CommandSurface): boolean;
}

export function text(answer: string): Extract<CommandAnswer, { type: "text" }> {
  return { type: "text", text: answer };
}

/** Text whose columns are aligned with spaces. */
export function columns(answer: string): Extract<CommandAnswer, { type: "text" }> {
  return { type: "text", text: answer, columns: true };
}

/** Words of the arguments. */
export function words(args: string): string[] {
  return args.split(/\s+/).filter((word) => word !== "");
}

/** Errors that the user can remove become the answer; the others are bugs. */
export async function answerErrors(work: () => Promise<CommandAnswer>): Promise<CommandAnswer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return text(`${error.message.replace(/\.?$/, ".")}${error.hint ? ` ${error.hint}` : ""}`);
  }
}

/** In the terminal, where the sender is the owner and the screen can be drawn on. */
export function isTerminal(context: CommandContext): boolean {
  return context.source === "cli";
}

type ChatRun = Required<SlashCommand>["runInChat"];

/** A command that exists in chats only. */
export function chatCommand(
  command: Omit<BuiltinCommand, "run" | "surface"> & { readonly runInChat: ChatRun },
): BuiltinCommand {
  return {
    ...command,
    surface: "chat",
    whileBusy: true,
    run: async () => text(`/${command.name} works in chats only.`),
  };
}
