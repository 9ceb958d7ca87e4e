// `hermes --help`: the commands, the most used flags of a chat, and the flags of every command.
import { chatOptions } from "./chat-options.ts";
import { type CommandTable, optionRows, rowsText } from "./command.ts";

const CHAT_FLAGS = ["query", "oneshot", "continue", "resume", "model", "toolsets", "skills", "yolo"] as const;

const COMMON_FLAGS: readonly (readonly [string, string])[] = [
  ["-p, --profile NAME", "Use this profile (at any position)"],
  ["-V, --version", "Print the version"],
  ["-h, --help", "Print this help; `hermes COMMAND --help` explains a command"],
];

export function programHelp(commands: CommandTable, columns = Number.POSITIVE_INFINITY): string {
  const chatFlags = CHAT_FLAGS.map((name) => [name, chatOptions[name]] as const);
  const summaries = Object.entries(commands).map(([name, entry]) => [name, entry.summary] as const);
  return `Hermes: a personal AI agent for your terminal and your chats.

Usage: hermes [options] [command]

Without a command, Hermes starts a chat.

Chat options (all of them: hermes chat --help):
${rowsText(optionRows(chatFlags.flatMap(([name, option]) => (option ? [[name, option] as const] : []))), columns)}
Options:
${rowsText(COMMON_FLAGS, columns)}
Commands:
${rowsText(summaries, columns)}
Documentation: docs/ in the package, or README.md
`;
}
