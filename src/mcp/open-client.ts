// Connects a client to one server, over the transport of its settings.
import { readFileSync } from "node:fs";
import type { AuthProvider, Client, ConnectOptions, FetchLike, Transport } from "@modelcontextprotocol/client";
import type { ServerRecord } from "./known-tools.ts";
import type { RemoteOptions, ServerOptions, StdioOptions } from "./server-options.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** How long a server of the older protocol may leave the first question unanswered. */
const PROBE_MS = 3_000;
const CLIENT_INFO = { name: "hermes", version: "0.1.0" };

export interface OpenClientDeps {
  /** Variables that the server's process gets besides those of its settings. */
  readonly env: { readonly [name: string]: string };
  readonly cwd: string;
  /** The command that runs a contained server; undefined when there is no container. */
  contain?(cwd: string): Promise<readonly string[] | undefined>;
  authProvider?(options: RemoteOptions): Promise<AuthProvider>;
  onErrorOutput(server: string, text: string): void;
  /** Registers the requests that the server may make. Called before connecting. */
  prepare(client: Client): void;
  onToolsChanged(): void;
}

async function stdioTransport(options: StdioOptions, deps: OpenClientDeps): Promise<Transport> {
  const cwd = options.cwd ?? deps.cwd;
  const wrapper = options.contained ? await deps.contain?.(cwd) : undefined;
  if (options.contained && !wrapper) throw new Error("the server must run contained, and no container is available");
  return new StdioTransport({
    command: options.command,
    args: options.args,
    cwd,
    env: { ...deps.env, ...options.env },
    wrapper,
    onErrorOutput: (text) => deps.onErrorOutput(options.name, text),
  });
}

/** Node's own fetch cannot use other certificate authorities for single requests. */
async function fetchWithCertificates(verify: boolean | string): Promise<FetchLike | undefined> {
  if (verify === true) return undefined;
  const { createTlsFetch } = await import("./tls-fetch.ts");
  return createTlsFetch(typeof verify === "string" ? { ca: readFileSync(verify) } : { rejectUnauthorized: false });
}

async function remoteTransport(options: RemoteOptions, deps: OpenClientDeps): Promise<Transport> {
  const { StreamableHTTPClientTransport, SSEClientTransport } = await import("@modelcontextprotocol/client");
  const authProvider = options.oauth ? await deps.authProvider?.(options) : undefined;
  const fetch = await fetchWithCertificates(options.verify);
  const settings = {
    requestInit: { headers: options.headers },
    ...(authProvider && { authProvider }),
    ...(fetch && { fetch }),
  };
  if (options.transport === "sse") return new SSEClientTransport(options.url, settings);
  return new StreamableHTTPClientTransport(options.url, settings);
}

export function openTransport(options: ServerOptions, deps: OpenClientDeps): Promise<Transport> {
  return options.transport === "stdio" ? stdioTransport(options, deps) : remoteTransport(options, deps);
}

/** A protocol that is known from the last run spares the question which one the server speaks. */
function priorProtocol(record: ServerRecord | undefined): ConnectOptions["prior"] {
  if (!record) return undefined;
  if (!record.modern) return { kind: "legacy" };
  return record.discover ? ({ kind: "modern", discover: record.discover } as ConnectOptions["prior"]) : undefined;
}

/** Rejects when the server does not answer within its time limit; nothing is left running then. */
export async function openClient(
  options: ServerOptions,
  deps: OpenClientDeps,
  record: ServerRecord | undefined,
  signal: AbortSignal,
): Promise<Client> {
  const { Client } = await import("@modelcontextprotocol/client");
  const client = new Client(CLIENT_INFO, {
    capabilities: { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} },
    versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(PROBE_MS, options.connectMs) } },
    listChanged: { tools: { onChanged: () => deps.onToolsChanged(), autoRefresh: false } },
  });
  deps.prepare(client);
  const transport = await openTransport(options, deps);
  const prior = priorProtocol(record);
  const limits = { timeout: options.connectMs, signal };
  try {
    await client.connect(transport, prior ? { ...limits, prior } : limits);
    return client;
  } catch (error) {
    await transport.close().catch(() => undefined);
    throw error;
  }
}
