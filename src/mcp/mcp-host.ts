// All MCP servers of a home. Nothing waits for them: tools that are known from the last run are offered at once.
import { join } from "node:path";
import { absentHuman } from "../core/human.ts";
import type { McpPrompt, McpServerStatus, McpServers } from "../core/mcp.ts";
import { contentText } from "../core/message.ts";
import type { Tool } from "../core/tool/tool.ts";
import { errorMessage } from "../lib/error-message.ts";
import { contentPart, joinParts } from "./call-result.ts";
import { KnownTools, splitByPin } from "./known-tools.ts";
import { toolsOf } from "./mcp-tools.ts";
import { type ConnectionDeps, ServerConnection } from "./server-connection.ts";
import { type McpServerConfig, readServerOptions } from "./server-options.ts";

export interface McpHostDeps extends Omit<ConnectionDeps, "known"> {
  readonly homePath: string;
  readonly servers: { readonly [name: string]: McpServerConfig };
}

export function knownToolsPath(homePath: string): string {
  return join(homePath, "cache", "mcp-tools.json");
}

export class McpHost implements McpServers {
  readonly connections: readonly ServerConnection[];
  readonly #problems: McpServerStatus[] = [];
  readonly #deps: McpHostDeps;

  constructor(deps: McpHostDeps) {
    this.#deps = deps;
    const known = new KnownTools(knownToolsPath(deps.homePath));
    const connections: ServerConnection[] = [];
    for (const [name, config] of Object.entries(deps.servers)) {
      try {
        connections.push(new ServerConnection(readServerOptions(name, config), { ...deps, known }));
      } catch (error) {
        const reason = errorMessage(error);
        this.#problems.push({ name, state: "failed", transport: "stdio", reason, tools: [], held: [] });
      }
    }
    this.connections = connections;
  }

  start(which?: "all"): void {
    for (const connection of this.connections) if (which || !connection.record) connection.start();
  }

  get incomplete(): boolean {
    return this.connections.some(({ options, record }) => options.enabled && !record);
  }

  async settled(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.settled()));
  }

  tools(): readonly Tool[] {
    return this.connections.flatMap(toolsOf);
  }

  statuses(): readonly McpServerStatus[] {
    return [...this.connections.map(describe), ...this.#problems];
  }

  prompts(): readonly McpPrompt[] {
    return this.connections
      .filter(({ options }) => options.enabled && options.prompts)
      .flatMap(({ options, record }) => (record?.prompts ?? []).map((each) => ({ server: options.name, ...each })));
  }

  async prompt(server: string, name: string, args: { readonly [name: string]: string }): Promise<string> {
    const connection = this.connections.find(({ options }) => options.name === server);
    if (!connection) throw new Error(`there is no MCP server "${server}"`);
    const scope = {
      human: absentHuman,
      workspace: this.#deps.cwd,
      signal: AbortSignal.timeout(connection.options.callMs),
    };
    const { messages } = await connection.use(scope, (client, options) =>
      client.getPrompt({ name, arguments: { ...args } }, options),
    );
    return messages.map(({ content }) => contentText(joinParts([contentPart(content)]))).join("\n\n");
  }

  async close(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.close()));
  }
}

function describe(connection: ServerConnection): McpServerStatus {
  const { options, record, state, reason, protocol } = connection;
  const { accepted, held } = record ? splitByPin(record) : { accepted: [], held: [] };
  return {
    name: options.name,
    state,
    transport: options.transport,
    reason: state === "ready" || state === "off" ? undefined : reason,
    tools: accepted.map((tool) => tool.name),
    held,
    protocol,
  };
}
