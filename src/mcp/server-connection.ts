// One MCP server: connects in the background, restarts with growing pauses, and makes calls one after the other.
import type { CallToolResult, Client, RequestOptions } from "@modelcontextprotocol/client";
import type { Human } from "../core/human.ts";
import type { McpServerState } from "../core/mcp.ts";
import type { SideModel } from "../core/model/provider.ts";
import { errorMessage } from "../lib/error-message.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import {
  type KnownTools,
  type ListedPrompt,
  type ListedTool,
  pinAll,
  type ServerRecord,
  serverIdentity,
  splitByPin,
} from "./known-tools.ts";
import { type OpenClientDeps, openClient } from "./open-client.ts";
import type { ServerOptions } from "./server-options.ts";
import { registerServerRequests } from "./server-requests.ts";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** After so many failed restarts the server is started again only when a tool is called. */
const MAX_RESTARTS = 5;

export interface ConnectionDeps extends Omit<OpenClientDeps, "prepare" | "onToolsChanged"> {
  readonly known: KnownTools;
  side(): Promise<SideModel>;
  /** A line for the user. */
  notice(text: string): void;
}

/** The conversation that a call belongs to. */
export interface CallScope {
  readonly human: Human;
  readonly workspace: string;
  readonly signal: AbortSignal;
  progress?(text: string): void;
}

/** The reason why a call could not be made, for the model. */
export class ServerUnavailable extends Error {}

function isLoginError(error: unknown): boolean {
  return error instanceof Error && (error.name === "UnauthorizedError" || /\b401\b/.test(error.message));
}

async function listPrompts(client: Client, limits: RequestOptions): Promise<ListedPrompt[]> {
  if (!client.getServerCapabilities()?.prompts) return [];
  const { prompts } = await client.listPrompts(undefined, limits);
  return prompts.map(({ name, description, arguments: args }) => ({
    name,
    description: description ?? "",
    arguments: (args ?? []).map((each) => ({ name: each.name, required: each.required ?? false })),
  }));
}

export class ServerConnection {
  readonly options: ServerOptions;
  readonly #deps: ConnectionDeps;
  readonly #breaker = new CircuitBreaker();
  readonly #calls = new Set<CallScope>();
  readonly #closing = new AbortController();
  #client: Promise<Client> | undefined;
  #state: McpServerState = "idle";
  #reason: string | undefined;
  #protocol: string | undefined;
  #record: ServerRecord | undefined;
  #restarts = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Calls of servers that do not support parallel ones wait for this. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: ServerOptions, deps: ConnectionDeps) {
    this.options = options;
    this.#deps = deps;
    this.#record = deps.known.get(options);
  }

  get state(): McpServerState {
    return this.options.enabled ? this.#state : "off";
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  get protocol(): string | undefined {
    return this.#protocol;
  }

  /** What the server offers, from this run or from the last one. */
  get record(): ServerRecord | undefined {
    return this.#record;
  }

  /** Begins to connect; the result is seen in `state`. */
  start(): void {
    if (this.options.enabled) void this.client().catch(() => undefined);
  }

  /** Resolves when the server is ready or has failed once. */
  async settled(): Promise<void> {
    await this.#client?.catch(() => undefined);
  }

  /** The connected client; connects first when needed. */
  client(): Promise<Client> {
    this.#client ??= this.#connect();
    return this.#client;
  }

  async #connect(): Promise<Client> {
    const { options } = this;
    this.#state = "connecting";
    clearTimeout(this.#timer);
    try {
      const client = await this.#open(this.#record);
      client.onclose = () => this.#lost(client);
      await this.#list(client);
      this.#state = "ready";
      this.#reason = undefined;
      this.#restarts = 0;
      this.#protocol = client.getNegotiatedProtocolVersion();
      return client;
    } catch (error) {
      this.#client = undefined;
      this.#state = isLoginError(error) ? "login" : "failed";
      this.#reason =
        this.#state === "login"
          ? `it wants a sign-in: hermes mcp login ${options.name}`
          : `it did not connect: ${errorMessage(error)}`;
      if (this.#state === "failed") this.#restartLater();
      throw new ServerUnavailable(`The MCP server ${options.name} is not available: ${this.#reason}`);
    }
  }

  /** A protocol remembered wrongly, after an update of the server, is asked for again. */
  async #open(record: ServerRecord | undefined): Promise<Client> {
    const deps: OpenClientDeps = {
      ...this.#deps,
      prepare: (client) => this.#prepare(client),
      onToolsChanged: () => void this.#refresh(),
    };
    try {
      return await openClient(this.options, deps, record, this.#closing.signal);
    } catch (error) {
      if (!record || this.#closing.signal.aborted || isLoginError(error)) throw error;
      return openClient(this.options, deps, undefined, this.#closing.signal);
    }
  }

  #prepare(client: Client): void {
    const only = (): CallScope | undefined => (this.#calls.size === 1 ? [...this.#calls][0] : undefined);
    registerServerRequests(client, {
      server: this.options.name,
      sampling: this.options.sampling,
      roots: () => [...new Set([...this.#calls].map((call) => call.workspace))],
      human: () => only()?.human,
      side: () => this.#deps.side(),
    });
  }

  async #refresh(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    if (!client) return;
    await this.#list(client).catch((error) => {
      this.#deps.notice(`The MCP server ${this.options.name} did not list its tools: ${errorMessage(error)}`);
    });
  }

  /** The first list of a server is accepted as it is; later changes wait for the user. */
  async #list(client: Client): Promise<void> {
    const { options } = this;
    const limits = { timeout: options.connectMs, signal: this.#closing.signal };
    const { tools } = client.getServerCapabilities()?.tools ? await client.listTools(undefined, limits) : { tools: [] };
    const listed = tools.map(
      (tool): ListedTool => ({
        name: tool.name,
        description: tool.description ?? "",
        inputSchema: tool.inputSchema,
        readOnly: tool.annotations?.readOnlyHint ?? false,
        destructive: tool.annotations?.destructiveHint ?? false,
      }),
    );
    const modern = client.getProtocolEra() === "modern";
    const record: ServerRecord = {
      identity: serverIdentity(options),
      modern,
      discover: modern ? client.getDiscoverResult() : undefined,
      tools: listed,
      resources: client.getServerCapabilities()?.resources !== undefined,
      prompts: options.prompts ? await listPrompts(client, limits) : [],
      pins: this.#record?.pins ?? pinAll(listed),
    };
    const changed = JSON.stringify(record) !== JSON.stringify(this.#record);
    this.#record = record;
    if (!changed) return;
    await this.#deps.known.set(options.name, record);
    const { held } = splitByPin(record);
    if (held.length > 0)
      this.#deps.notice(
        `The MCP server ${options.name} has ${held.length} new or changed tools (${held.slice(0, 5).join(", ")}). The model sees them after: hermes mcp configure ${options.name}`,
      );
  }

  #lost(client: Client): void {
    if (this.#closing.signal.aborted) return;
    void this.#client?.then((current) => {
      if (current !== client) return;
      this.#client = undefined;
      this.#state = "failed";
      this.#reason = "its connection ended";
      this.#restartLater();
    });
  }

  #restartLater(): void {
    if (this.#closing.signal.aborted || this.#restarts >= MAX_RESTARTS) return;
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#restarts);
    this.#restarts += 1;
    this.#timer = setTimeout(() => this.start(), pause);
    this.#timer.unref();
  }

  /** Runs `work` with the client, for one conversation. Throws ServerUnavailable when the server cannot be reached. */
  async use<T>(scope: CallScope, work: (client: Client, options: RequestOptions) => Promise<T>): Promise<T> {
    const { name, callMs, parallel } = this.options;
    const { waitMs } = this.#breaker;
    if (waitMs > 0)
      throw new ServerUnavailable(
        `The MCP server ${name} failed repeatedly; calls are paused for ${Math.ceil(waitMs / 1000)} s. Continue without it.`,
      );
    const run = async () => {
      scope.signal.throwIfAborted();
      const client = await this.client();
      this.#calls.add(scope);
      try {
        return await work(client, {
          timeout: callMs,
          signal: scope.signal,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: callMs * 5,
          onprogress: ({ progress, total, message }) =>
            scope.progress?.(message ?? (total ? `${progress} of ${total}` : String(progress))),
        });
      } finally {
        this.#calls.delete(scope);
      }
    };
    const turn = parallel ? run() : this.#queue.then(run);
    if (!parallel) this.#queue = turn.catch(() => undefined);
    return turn;
  }

  async callTool(name: string, args: { [key: string]: unknown }, scope: CallScope): Promise<CallToolResult> {
    try {
      const result = await this.use(scope, (client, options) => client.callTool({ name, arguments: args }, options));
      this.#breaker.succeeded();
      return result as CallToolResult;
    } catch (error) {
      // A JSON-RPC error is an answer of a server that works.
      if (!scope.signal.aborted && !(error instanceof Error && error.name === "ProtocolError")) this.#breaker.failed();
      throw error;
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#closing.abort();
    await client?.then((each) => each.close()).catch(() => undefined);
  }
}
