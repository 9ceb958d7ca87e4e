// Every slash command of the product, in the order of /help; registered as a plugin's commands are.
import { sessionCommands } from "../commands/sessions.ts";
import { turnCommands } from "../commands/turns.ts";
import type { SlashCommand } from "../core/command.ts";
import { BUILTINS } from "../core/tool-registry.ts";
import { createRegistrar, type RegisteredItems, registerCommand } from "../plugins/registrar.ts";

function builtinCommands(): SlashCommand[] {
  const entered: RegisteredItems = { tools: [], commands: [] };
  const ctx = createRegistrar({ name: BUILTINS, untimed: true }, entered);
  for (const command of [...turnCommands, ...sessionCommands]) ctx.registerCommand(command);
  const taken = new Set<string>();
  return entered.commands.map((command) => {
    const known = registerCommand(taken, command);
    if (!known) throw new Error(`/${command.name} is registered twice`);
    return known;
  });
}

export const slashCommands: readonly SlashCommand[] = builtinCommands().sort((a, b) => a.name.localeCompare(b.name));
