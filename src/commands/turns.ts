// Slash commands about the running conversation: steer, queue, stop, compress, model, usage, help, quit.
import type { CommandAnswer, CommandContext, SlashCommand } from "../core/chat/command.ts";
import { inDollars, promptTokens } from "../core/store/usage.ts";
import { type BuiltinCommand, text } from "./builtin-command.ts";

async function steer(args: string, context: CommandContext): Promise<CommandAnswer> {
  if (args === "") return text("What should I take into account? /steer TEXT");
  if (context.busy && context.conversation.steer(args))
    return text("Noted: the agent reads it with the next tool result.");
  return { type: "send", text: args, when: "now" };
}

async function compress(args: string, context: CommandContext): Promise<CommandAnswer> {
  const { shrunk } = await context.conversation.compact(args === "" ? undefined : args);
  return text(
    shrunk
      ? "The older part was summarised; the original messages stay searchable."
      : "There is nothing to compact yet.",
  );
}

async function usage(_: string, context: CommandContext): Promise<CommandAnswer> {
  const dayStart = new Date().setHours(0, 0, 0, 0) / 1000;
  const groups = await context.ledger.report({ since: dayStart, by: "model" });
  if (groups.length === 0) return text("No model call today yet.");
  const lines = groups.map((group) => {
    const cost =
      group.unpriced === group.calls ? "price unknown" : `${group.assumedUsd > 0 ? "~" : ""}${inDollars(group.usd)}`;
    return `${group.key}: ${group.calls} calls, ${promptTokens(group.usage)} tokens in (${group.usage.cacheRead} cached), ${group.usage.output} out, ${cost}`;
  });
  return text(`Today\n${lines.join("\n")}\nMore: hermes usage`);
}

async function model(args: string, context: CommandContext): Promise<CommandAnswer> {
  const { identity } = context.opened;
  if (args === "") return text(`${identity.model} (${identity.provider}). Switch with /model NAME [--provider NAME]`);
  const match = /^(.*?)(?:\s+--provider\s+(\S+))?$/.exec(args);
  return { type: "model", model: (match?.[1] ?? args).trim(), provider: match?.[2] };
}

async function help(_: string, context: CommandContext): Promise<CommandAnswer> {
  const label = (command: SlashCommand) => `/${command.name}${command.args ? ` ${command.args}` : ""}`;
  const width = Math.max(...context.commands.map((command) => label(command).length));
  const lines = context.commands.map((command) => `${label(command).padEnd(width)}  ${command.summary}`);
  return { type: "text", text: lines.join("\n"), columns: true };
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
  { name: "help", summary: "This list", whileBusy: true, ownerOnly: false, run: help },
  {
    name: "steer",
    args: "text",
    summary: "Guide the running turn without stopping it",
    whileBusy: true,
    ownerOnly: false,
    run: steer,
  },
  {
    name: "queue",
    aliases: ["q"],
    args: "text",
    summary: "Send after the running turn",
    whileBusy: true,
    ownerOnly: false,
    run: async (args) =>
      args === "" ? text("What should be sent? /queue TEXT") : { type: "send", text: args, when: "after" },
  },
  {
    name: "stop",
    summary: "Interrupt the running turn",
    whileBusy: true,
    ownerOnly: false,
    run: async (_, context) => {
      if (!context.busy) return text("Nothing is running.");
      context.conversation.interrupt();
      return text("Stopping.");
    },
  },
  { name: "compress", args: "[focus]", summary: "Summarise the older part now", ownerOnly: false, run: compress },
  { name: "model", args: "[name]", summary: "Show or switch the model", ownerOnly: false, run: model },
  { name: "usage", summary: "What today's model calls cost", whileBusy: true, ownerOnly: false, run: usage },
  {
    name: "yolo",
    summary: "Run dangerous commands of this session without approval, or ask again",
    whileBusy: true,
    ownerOnly: true,
    run: yolo,
  },
  {
    name: "quit",
    aliases: ["exit"],
    summary: "Leave",
    surface: "terminal",
    whileBusy: true,
    ownerOnly: false,
    run: async () => ({ type: "quit" }),
  },
];
