// Every slash command of the product, in the order of /help.
import { sessionCommands } from "../commands/session-commands.ts";
import { turnCommands } from "../commands/turn-commands.ts";
import type { SlashCommand } from "../core/command.ts";

export const slashCommands: readonly SlashCommand[] = [...turnCommands, ...sessionCommands].sort((a, b) =>
  a.name.localeCompare(b.name),
);
