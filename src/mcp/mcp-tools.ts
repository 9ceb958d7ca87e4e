// The tools of a server as tools of a conversation: its own, and those that read resources and prompts.
import type { JsonObject } from "../core/message.ts";
import { type Tool, toolError } from "../core/tool/tool.ts";
import { errorMessage } from "../lib/error-message.ts";
import { contentPart, joinParts, toToolResult } from "./call-result.ts";
import { type ListedTool, splitByPin } from "./known-tools.ts";
import type { CallScope, ServerConnection } from "./server-connection.ts";
import { mcpToolName, mcpToolset, normaliseSchema, shortDescription } from "./tool-schema.ts";

type RunContext = Parameters<Tool["run"]>[1];

function scopeOf(context: RunContext): CallScope {
  const { human, signal, workspace, cwd, progress } = context;
  return { human, signal, workspace: workspace ?? cwd, progress };
}

function isOffered(connection: ServerConnection, name: string): boolean {
  const { include, exclude } = connection.options;
  return include.length > 0 ? include.includes(name) : !exclude.includes(name);
}

/** What every tool of a server has in common. */
function serverTool(
  connection: ServerConnection,
  tool: {
    readonly name: string;
    readonly description: string;
    readonly schema: JsonObject;
    readonly readOnly: boolean;
  },
  run: Tool["run"],
): Tool {
  const server = connection.options.name;
  return {
    name: mcpToolName(server, tool.name),
    toolset: mcpToolset(server),
    description: shortDescription(tool.description) || `Tool ${tool.name} of the MCP server ${server}.`,
    parameters: tool.schema as never,
    overlap: connection.options.parallel || tool.readOnly ? "parallel" : "alone",
    mutates: !tool.readOnly,
    searchable: "when-large",
    timeoutMs: connection.options.callMs * 5 + connection.options.connectMs,
    available: () =>
      connection.options.enabled ? { ok: true } : { ok: false, reason: `the MCP server ${server} is switched off` },
    run: async (args, context) => {
      try {
        return await run(args, context);
      } catch (error) {
        if (context.signal.aborted) throw error;
        return toolError(errorMessage(error), { server });
      }
    },
  };
}

function ownTool(connection: ServerConnection, listed: ListedTool): Tool {
  const { name, description, inputSchema, readOnly } = listed;
  const origin = `the MCP server ${connection.options.name}`;
  const schema = normaliseSchema(inputSchema);
  return serverTool(connection, { name, description, schema, readOnly }, async (args, context) =>
    toToolResult(await connection.callTool(name, args as { [key: string]: unknown }, scopeOf(context)), origin),
  );
}

const NOTHING = { type: "object", properties: {} } as const;

function resourceTools(connection: ServerConnection): Tool[] {
  const { name: server } = connection.options;
  const origin = `the MCP server ${server}`;
  const uri = { type: "string", description: "The resource's address, as listed" };
  const list = {
    name: "list_resources",
    description: `Lists the resources of ${server}.`,
    schema: NOTHING,
    readOnly: true,
  };
  const read = {
    name: "read_resource",
    description: `Reads a resource of ${server}.`,
    schema: { type: "object", properties: { uri }, required: ["uri"] },
    readOnly: true,
  };
  return [
    serverTool(connection, list, async (_args, context) => {
      const { resources } = await connection.use(scopeOf(context), (client, options) =>
        client.listResources(undefined, options),
      );
      const rows = resources.map((each) => ({ uri: each.uri, name: each.name, description: each.description ?? "" }));
      return { content: JSON.stringify({ resources: rows }), trust: "untrusted", origin };
    }),
    serverTool(connection, read, async (args, context) => {
      const { contents } = await connection.use(scopeOf(context), (client, options) =>
        client.readResource({ uri: String((args as JsonObject).uri) }, options),
      );
      const parts = contents.map((resource) => contentPart({ type: "resource", resource }));
      return { content: joinParts(parts), trust: "untrusted", origin };
    }),
  ];
}

/** Accepted tools first; a built-in tool keeps its name, and a second tool of the same name is left out. */
export function toolsOf(connection: ServerConnection): Tool[] {
  const { record, options } = connection;
  if (!options.enabled || !record) return [];
  const own = splitByPin(record)
    .accepted.filter((tool) => isOffered(connection, tool.name))
    .map((tool) => ownTool(connection, tool));
  const names = new Set<string>();
  return [...own, ...(record.resources && options.resources ? resourceTools(connection) : [])].filter(
    (tool) => !names.has(tool.name) && names.add(tool.name),
  );
}
