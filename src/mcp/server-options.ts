// The settings of one MCP server, read from `mcp_servers.<name>`.
import type { Config } from "../core/config/config.ts";
import { UserError } from "../core/failure.ts";

export type McpServerConfig = Config["mcp_servers"][string];

export interface SamplingOptions {
  readonly enabled: boolean;
  readonly maxTokens: number;
  readonly timeoutMs: number;
  readonly maxPerMinute: number;
}

export interface OauthOptions {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly scope?: string | undefined;
  /** 0: any free port. */
  readonly redirectPort: number;
  readonly clientName: string;
  readonly timeoutMs: number;
}

interface CommonOptions {
  readonly name: string;
  readonly enabled: boolean;
  readonly callMs: number;
  readonly connectMs: number;
  readonly parallel: boolean;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly resources: boolean;
  readonly prompts: boolean;
  readonly sampling: SamplingOptions;
}

export interface StdioOptions extends CommonOptions {
  readonly transport: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string };
  readonly cwd?: string | undefined;
  /** Runs in the container that the model's commands run in. */
  readonly contained: boolean;
}

export interface RemoteOptions extends CommonOptions {
  readonly transport: "http" | "sse";
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  /** False accepts any certificate; a path is a file with certificate authorities. */
  readonly verify: boolean | string;
  readonly oauth?: OauthOptions | undefined;
}

export type ServerOptions = StdioOptions | RemoteOptions;

const seconds = (value: number | null | undefined, fallback: number): number => (value || fallback) * 1000;

function textMap(value: unknown): { [name: string]: string } {
  return Object.fromEntries(Object.entries(value ?? {}).map(([name, each]) => [name, String(each)]));
}

function readOauth(config: McpServerConfig): OauthOptions | undefined {
  if (config.auth !== "oauth") return undefined;
  const { client_id, client_secret, scope, redirect_port, client_name, timeout } = config.oauth;
  return {
    clientId: client_id || undefined,
    clientSecret: client_secret || undefined,
    scope: scope || undefined,
    redirectPort: redirect_port,
    clientName: client_name,
    timeoutMs: timeout * 1000,
  };
}

function readUrl(name: string, url: string): URL {
  if (URL.canParse(url)) {
    const parsed = new URL(url);
    if (parsed.protocol === "http:" || parsed.protocol === "https:") return parsed;
  }
  throw new UserError(`mcp_servers.${name}.url is not an http or https address: ${url}`, {
    hint: `Set it with: hermes config set mcp_servers.${name}.url https://…`,
    exitCode: 2,
  });
}

/** Throws UserError when neither a command nor an address is set. */
export function readServerOptions(name: string, config: McpServerConfig): ServerOptions {
  const common: CommonOptions = {
    name,
    enabled: config.enabled,
    callMs: seconds(config.timeout, 120),
    connectMs: seconds(config.connect_timeout, 60),
    parallel: config.supports_parallel_tool_calls,
    include: config.tools.include,
    exclude: config.tools.exclude,
    resources: config.tools.resources,
    prompts: config.tools.prompts,
    sampling: {
      enabled: config.sampling.enabled,
      maxTokens: config.sampling.max_tokens_cap,
      timeoutMs: config.sampling.timeout * 1000,
      maxPerMinute: config.sampling.max_rpm,
    },
  };
  if (config.url) {
    const transport = config.transport === "sse" ? "sse" : "http";
    const headers = textMap(config.headers);
    const { ssl_verify: verify } = config;
    return { ...common, transport, url: readUrl(name, config.url), headers, verify, oauth: readOauth(config) };
  }
  if (!config.command)
    throw new UserError(`mcp_servers.${name} has neither a command nor a url`, {
      hint: `Add one with: hermes mcp add ${name} --command PROGRAM, or --url ADDRESS`,
      exitCode: 2,
    });
  return {
    ...common,
    transport: "stdio",
    command: config.command,
    args: (config.args ?? []).map(String),
    env: textMap(config.env),
    cwd: config.cwd || undefined,
    contained: config.contained,
  };
}
