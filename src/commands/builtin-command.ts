// The type of the built-in slash commands, and a helper for those that reply with text.
import type { CommandAnswer, SlashCommand } from "../core/chat/command.ts";

/** `ownerOnly` is required, so that every new command decides it. */
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
