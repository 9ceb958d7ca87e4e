// Slash commands about the running conversation: steer, queue, compress, yolo.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { type BuiltinCommand, text } from "./builtin-command.ts";
import { count } from "./format.ts";

const FEWEST_MESSAGES = 4;

async function steer(args: string, context: CommandContext): Promise<CommandAnswer> {
  if (args === "") return text("What should I take into account? /steer TEXT");
  if (context.busy && context.conversation.steer(args))
    return text("Noted: the agent reads it with the next tool result.");
  return { type: "send", text: args, when: "now" };
}

async function compress(args: string, { conversation }: CommandContext): Promise<CommandAnswer> {
  if (conversation.messages.length < FEWEST_MESSAGES) return text("There is nothing to compact yet.");
  const { shrunk, beforeTokens, afterTokens, notice } = await conversation.compact(args === "" ? undefined : args);
  const tokens = `${count(beforeTokens)} → ${count(afterTokens)} tokens`;
  const answer = shrunk
    ? `The older part was summarised (${tokens}); the original messages stay searchable.`
    : "There is nothing to compact yet.";
  return text(notice ? `${answer}\n${notice}` : answer);
}

async function yolo(_: string, context: CommandContext): Promise<CommandAnswer> {
  await context.setYolo(!context.yolo);
  return text(
    context.yolo
      ? "Dangerous commands need your approval again."
      : "Dangerous commands run without approval in this session; the most destructive ones are still refused.",
  );
}

export const turnCommands: readonly BuiltinCommand[] = [
  {
    name: "steer",
    group: "Conversation",
    args: "text",
    summary: "Guide the running turn without stopping it",
    whileBusy: true,
    ownerOnly: false,
    run: steer,
  },
  {
    name: "queue",
    aliases: ["q"],
    group: "Conversation",
    args: "text",
    summary: "Send after the running turn",
    whileBusy: true,
    ownerOnly: false,
    run: async (args) =>
      args === "" ? text("What should be sent? /queue TEXT") : { type: "send", text: args, when: "after" },
  },
  {
    name: "compress",
    group: "Conversation",
    args: "[focus]",
    summary: "Summarise the older part now",
    ownerOnly: false,
    run: compress,
  },
  {
    name: "yolo",
    group: "Tools and skills",
    summary: "Run dangerous commands of this session without approval, or ask again",
    whileBusy: true,
    ownerOnly: true,
    run: yolo,
  },
];
