// Which MCP tools a conversation may use, by its toolsets and its platform.
import type { Config } from "../core/config/config.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import type { McpServers } from "../core/mcp.ts";
import type { Tool } from "../core/tool/tool.ts";
import { mcpToolset } from "./tool-schema.ts";

/** In `platform_toolsets`: the platform gets no MCP servers. */
const NO_MCP = "no_mcp";

/** Named toolsets of a conversation select servers by `mcp-<server>` or by the server's name. */
function isSelected(server: string, names: readonly string[]): boolean {
  return names.includes(mcpToolset(server)) || names.includes(server) || names.includes("all") || names.includes("*");
}

function mayUse(server: string, config: Config, options: ConversationOptions): boolean {
  const off = [...config.agent.disabled_toolsets, ...(options.withoutToolsets ?? [])].map(String);
  if (isSelected(server, off)) return false;
  if (options.toolsets) return isSelected(server, options.toolsets);
  const named = (config.platform_toolsets as { readonly [name: string]: readonly string[] | undefined })[
    options.platform ?? "cli"
  ];
  return !named?.includes(NO_MCP);
}

/** Servers hold the owner's accounts: guests do not get them. */
export function conversationMcpTools(
  servers: McpServers,
  config: Config,
  options: ConversationOptions,
): readonly Tool[] {
  if (options.human?.guest) return [];
  const allowed = servers
    .statuses()
    .filter(({ name }) => mayUse(name, config, options))
    .map(({ name }) => mcpToolset(name));
  return servers.tools().filter((tool) => allowed.includes(tool.toolset));
}

/** The toolsets of all configured servers, by both of their names. */
export function mcpToolsets(servers: McpServers): Map<string, string[]> {
  const sets = new Map<string, string[]>();
  for (const { name } of servers.statuses()) {
    const names = servers
      .tools()
      .filter((tool) => tool.toolset === mcpToolset(name))
      .map((tool) => tool.name);
    sets.set(mcpToolset(name), names);
    sets.set(name, names);
  }
  return sets;
}
