// /help and /commands: every command of the surface, in groups.
import { COMMAND_GROUPS, type CommandAnswer, type CommandContext, type SlashCommand } from "../core/chat/command.ts";
import { wrapWords } from "../lib/text/wrap-words.ts";
import { type BuiltinCommand, columns, text } from "./builtin-command.ts";
import { rows } from "./format.ts";

const PAGE = 20;

function label({ name, args }: SlashCommand): string {
  return `/${name}${args ? ` ${args}` : ""}`;
}

function summary(command: SlashCommand): string {
  const also = (command.aliases ?? []).filter((alias) => !alias.includes("_"));
  return `${command.summary}${also.length > 0 ? ` (also ${also.map((alias) => `/${alias}`).join(", ")})` : ""}`;
}

/** One command with its arguments, or all of them. */
async function help(args: string, { commands, width }: CommandContext): Promise<CommandAnswer> {
  const wanted = args.replace(/^\//, "").toLowerCase();
  if (wanted !== "") {
    const found = commands.find(({ name, aliases }) => name === wanted || aliases?.includes(wanted));
    return text(found ? `${label(found)}\n${summary(found)}` : `There is no command /${wanted}. See /help`);
  }
  const headings = [...COMMAND_GROUPS, undefined];
  const blocks = headings.flatMap((group) => {
    const members = commands.filter((command) => command.group === group);
    if (members.length === 0) return [];
    const list = members.map((command) => [label(command), summary(command)] as const);
    return [`${group ?? "Plugins and your own"}\n${rows(list, width)}`];
  });
  const end =
    width === undefined
      ? "A skill runs as /NAME."
      : "A skill runs as /NAME. !COMMAND runs a shell command, @ refers to files, Ctrl-C stops, Ctrl-D leaves.";
  return columns([...blocks, width === undefined ? end : wrapWords(end, width)].join("\n\n"));
}

/** Chats show long lists in pages. */
function page(args: string, names: readonly SlashCommand[]): CommandAnswer {
  const pages = Math.max(1, Math.ceil(names.length / PAGE));
  const wanted = Math.min(pages, Math.max(1, Number.parseInt(args, 10) || 1));
  const shown = names.slice((wanted - 1) * PAGE, wanted * PAGE);
  const next = wanted < pages ? `\n/commands ${wanted + 1} shows more.` : "";
  return text(
    `Commands, page ${wanted} of ${pages}\n${shown.map((each) => `/${each.name}: ${each.summary}`).join("\n")}${next}`,
  );
}

export const helpCommands: readonly BuiltinCommand[] = [
  {
    name: "help",
    group: "Program",
    args: "[command]",
    summary: "This list",
    whileBusy: true,
    ownerOnly: false,
    run: help,
  },
  {
    name: "commands",
    group: "Program",
    args: "[page]",
    surface: "chat",
    summary: "Every command, in pages",
    whileBusy: true,
    ownerOnly: false,
    run: async (args, { commands }) => page(args, commands),
  },
];
