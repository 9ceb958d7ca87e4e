// The type of the program's own slash commands, and the answer that most of them give.
import type { CommandAnswer, SlashCommand } from "../core/command.ts";

/** Each built-in command says whether it is the owner's, so that a new one cannot be forgotten. */
export type BuiltinCommand = SlashCommand & { readonly ownerOnly: boolean | RegExp };

export function text(answer: string): Extract<CommandAnswer, { type: "text" }> {
  return { type: "text", text: answer };
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
