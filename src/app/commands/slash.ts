// The slash commands of a program, with the services that they need.
import { builtinCommands } from "../../commands/table.ts";
import type { CommandSurface, SlashCommand } from "../../core/chat/command.ts";
import type { ConversationDeps } from "../builtins.ts";
import type { Services } from "../services.ts";
import { commandDeps } from "./command-deps.ts";
import { onSurface } from "./list-slash.ts";

/** The prompts of the MCP servers that have connected. */
export async function promptCommands({ mcp }: Pick<Services, "mcp">): Promise<readonly SlashCommand[]> {
  if (!mcp.configured) return [];
  const [{ mcpPromptCommands }, servers] = await Promise.all([import("../../commands/mcp.ts"), mcp.open()]);
  return servers ? mcpPromptCommands(servers) : [];
}

/** The built-in commands of one surface, ready to run. */
export function slashCommands(deps: ConversationDeps, surface: CommandSurface): readonly SlashCommand[] {
  return onSurface(builtinCommands(commandDeps(deps)), surface);
}
