// The MCP servers of a program. Nothing is imported while none is configured.
import type { Config } from "../core/config/config.ts";
import type { McpServers } from "../core/mcp.ts";
import type { McpHostDeps } from "./mcp-host.ts";

export class McpAccess {
  readonly #load: () => Promise<Omit<McpHostDeps, "servers">>;
  #servers: Config["mcp_servers"];
  #host: Promise<McpServers> | undefined;

  constructor(servers: Config["mcp_servers"], load: () => Promise<Omit<McpHostDeps, "servers">>) {
    this.#servers = servers;
    this.#load = load;
  }

  get configured(): boolean {
    return Object.keys(this.#servers).length > 0;
  }

  /** The servers; undefined when none is configured. */
  async open(): Promise<McpServers | undefined> {
    if (!this.configured) return undefined;
    this.#host ??= this.#create();
    return this.#host;
  }

  async #create(): Promise<McpServers> {
    const [{ McpHost }, deps] = await Promise.all([import("./mcp-host.ts"), this.#load()]);
    return new McpHost({ ...deps, servers: this.#servers });
  }

  /** Ends the servers and opens those of `servers`. Open conversations keep the tools that they have. */
  async reload(servers: Config["mcp_servers"]): Promise<McpServers | undefined> {
    await this.close();
    this.#servers = servers;
    return this.open();
  }

  async close(): Promise<void> {
    const host = this.#host;
    this.#host = undefined;
    await host?.then((each) => each.close());
  }
}
