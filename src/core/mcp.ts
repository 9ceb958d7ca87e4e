// MCP servers as conversations and surfaces see them.
import type { Tool } from "./tool/tool.ts";

/** `idle`: known from an earlier run, and connected at the first call. `login`: it wants a sign-in by `hermes mcp login`. */
export type McpServerState = "off" | "idle" | "connecting" | "ready" | "failed" | "login";

export interface McpServerStatus {
  readonly name: string;
  readonly state: McpServerState;
  readonly transport: "stdio" | "http" | "sse";
  /** Why it is not ready. */
  readonly reason?: string | undefined;
  /** The tools that the model may use, by the names that the server gives them. */
  readonly tools: readonly string[];
  /** Tools that wait for `hermes mcp configure`: new, or with a changed description. */
  readonly held: readonly string[];
  readonly protocol?: string | undefined;
}

/** A prompt of a server; it becomes a slash command. */
export interface McpPrompt {
  readonly server: string;
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
}

export interface McpServers {
  /** Begins to connect to the servers whose tools are not known yet, or to all, in the background. */
  start(which?: "all"): void;
  /** The tools that are known now, from this run or from the last one. Does not wait for a server. */
  tools(): readonly Tool[];
  /** Some server has not told its tools yet. */
  readonly incomplete: boolean;
  statuses(): readonly McpServerStatus[];
  prompts(): readonly McpPrompt[];
  /** The text of a prompt, for the model. */
  prompt(server: string, name: string, args: { readonly [name: string]: string }): Promise<string>;
  /** Resolves when every server is ready or has failed. */
  settled(): Promise<void>;
  close(): Promise<void>;
}
