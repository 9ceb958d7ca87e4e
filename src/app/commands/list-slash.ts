// The slash commands of a surface as a list, for menus and documentation.
import type { BuiltinCommand } from "../../commands/builtin-command.ts";
import type { CommandDeps } from "../../commands/command-deps.ts";
import { builtinCommands } from "../../commands/table.ts";
import { COMMAND_GROUPS, type CommandSurface, type SlashCommand } from "../../core/chat/command.ts";

/** Those of the surface, in the order of /help. */
export function onSurface(commands: readonly BuiltinCommand[], surface: CommandSurface): readonly SlashCommand[] {
  const found = commands.filter(
    (command) => (command.surface ?? surface) === surface && command.isOffered?.(surface) !== false,
  );
  const taken = new Set<string>();
  for (const name of found.flatMap((command) => [command.name, ...(command.aliases ?? [])])) {
    if (taken.has(name)) throw new Error(`/${name} is registered twice`);
    taken.add(name);
  }
  const order = (command: BuiltinCommand) => COMMAND_GROUPS.indexOf(command.group);
  return found.sort((a, b) => order(a) - order(b) || a.name.localeCompare(b.name));
}

/** What building the table reads; the commands of a list cannot be run. */
const LISTED = { settings: { config: { display: { tool_progress_command: false } } } } as unknown as CommandDeps;

/** The built-in commands of one surface; these cannot be run. */
export function listSlashCommands(surface: CommandSurface): readonly SlashCommand[] {
  return onSurface(builtinCommands(LISTED), surface);
}
