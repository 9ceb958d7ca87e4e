// Slash commands in typed lines.
import { parseCommandLine, type SlashCommand } from "../core/chat/command.ts";
import { type TypedLine, withPastes } from "./composer/typed-line.ts";

/** Parses a slash command. A pasted block cannot be a command, only its argument. */
export function parseCommand(line: TypedLine, commands: readonly SlashCommand[]): ReturnType<typeof parseCommandLine> {
  const parsed = parseCommandLine(line.typed, commands);
  return parsed && "command" in parsed ? { ...parsed, args: withPastes(parsed.args, line.pastes) } : parsed;
}
