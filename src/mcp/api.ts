// What surfaces may do with MCP servers besides using their tools.
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { McpServerStatus } from "../core/mcp.ts";
import type { Settings } from "../core/settings.ts";
import { nearest } from "../lib/nearest.ts";
import { mcpHostDeps } from "./host-deps.ts";
import { KnownTools, type ListedTool, pinAll, splitByPin } from "./known-tools.ts";
import { knownToolsPath, McpHost } from "./mcp-host.ts";
import type { SignInUser } from "./oauth/sign-in.ts";
import { MCP_PRESETS, type McpPreset } from "./presets.ts";
import { type McpServerConfig, readServerOptions } from "./server-options.ts";

export type { SignInUser } from "./oauth/sign-in.ts";

const NAME = /^[A-Za-z][\w.-]{0,40}$/;

async function serverConfig(settings: Settings, name: string): Promise<McpServerConfig> {
  const { config } = await settings.load();
  const found = config.mcp_servers[name];
  if (found) return found;
  const guess = nearest(name, Object.keys(config.mcp_servers));
  throw new UserError(`there is no MCP server "${name}"${guess ? `; did you mean "${guess}"?` : ""}`, {
    hint: "See: hermes mcp list",
    exitCode: 2,
  });
}

/** A host with these servers only, for one command. */
async function withHost<T>(
  home: Home,
  servers: { readonly [name: string]: McpServerConfig },
  work: (host: McpHost) => Promise<T>,
): Promise<T> {
  const noModel = () => Promise.reject(new Error("no model is available here"));
  const sources = { homePath: home.path, cwd: home.cwd, env: home.env, side: noModel };
  const deps = mcpHostDeps({ ...sources, redact: (text) => text, notice: () => undefined });
  const host = new McpHost({ ...deps, servers });
  try {
    return await work(host);
  } finally {
    await host.close();
  }
}

/** The settings of a preset, or of the options; throws UserError for a name that cannot be used. */
export async function addServer(
  settings: Settings,
  name: string,
  given: { readonly [key: string]: unknown },
): Promise<string> {
  if (!NAME.test(name))
    throw new UserError(`"${name}" cannot be the name of a server`, {
      hint: "Use letters, digits, dots, - and _, and begin with a letter.",
      exitCode: 2,
    });
  const { config } = await settings.load();
  if (config.mcp_servers[name])
    throw new UserError(`there is an MCP server "${name}" already`, {
      hint: `Remove it first: hermes mcp remove ${name}`,
      exitCode: 2,
    });
  const preset = Object.keys(given).length === 0 ? MCP_PRESETS.find((each) => each.name === name) : undefined;
  if (!preset && Object.keys(given).length === 0)
    throw new UserError(`"${name}" is not a known server`, {
      hint: `Give its program or address: hermes mcp add ${name} --command PROGRAM [--arg ARG …], or --url ADDRESS. Known ones: hermes mcp search`,
      exitCode: 2,
    });
  await settings.set(`mcp_servers.${name}`, JSON.stringify(preset?.settings ?? given));
  return preset?.needs ?? "";
}

export async function removeServer(home: Home, settings: Settings, name: string): Promise<void> {
  await serverConfig(settings, name);
  await settings.unset(`mcp_servers.${name}`);
  await new KnownTools(knownToolsPath(home.path)).forget(name);
}

/** The servers as they are known, without connecting. */
export async function listServers(home: Home, settings: Settings): Promise<readonly McpServerStatus[]> {
  const { config } = await settings.load();
  return withHost(home, config.mcp_servers, async (host) => host.statuses());
}

/** Connects to one server and reports what it offers. */
export async function testServer(
  home: Home,
  settings: Settings,
  name: string,
): Promise<McpServerStatus & { readonly ms: number }> {
  const config = await serverConfig(settings, name);
  return withHost(home, { [name]: { ...config, enabled: true } }, async (host) => {
    const began = performance.now();
    host.start("all");
    await host.settled();
    const [status] = host.statuses();
    if (!status) throw new UserError(`there is no MCP server "${name}"`);
    return { ...status, ms: Math.round(performance.now() - began) };
  });
}

export interface HeldTool extends ListedTool {
  readonly isNew: boolean;
}

/** Tools of a server that wait for the user. */
export async function heldTools(home: Home, settings: Settings, name: string): Promise<readonly HeldTool[]> {
  const options = readServerOptions(name, await serverConfig(settings, name));
  const record = new KnownTools(knownToolsPath(home.path)).get(options);
  if (!record) return [];
  const { held } = splitByPin(record);
  return record.tools
    .filter((tool) => held.includes(tool.name))
    .map((tool) => ({ ...tool, isNew: record.pins[tool.name] === undefined }));
}

/** Accepts these tools as they are described now. */
export async function acceptTools(
  home: Home,
  settings: Settings,
  name: string,
  tools: readonly ListedTool[],
): Promise<void> {
  const options = readServerOptions(name, await serverConfig(settings, name));
  const known = new KnownTools(knownToolsPath(home.path));
  const record = known.get(options);
  if (record) await known.set(name, { ...record, pins: { ...record.pins, ...pinAll(tools) } });
}

export async function signInToServer(home: Home, settings: Settings, name: string, user: SignInUser): Promise<void> {
  const options = readServerOptions(name, await serverConfig(settings, name));
  if (options.transport === "stdio")
    throw new UserError(`${name} is a program on this machine and needs no sign-in`, { exitCode: 2 });
  const { signIn } = await import("./oauth/sign-in.ts");
  await signIn(options, home.path, user);
}

/** Known servers whose name or summary has one of the words; all for no words. */
export function searchPresets(words: readonly string[]): readonly McpPreset[] {
  if (words.length === 0) return MCP_PRESETS;
  const wanted = words.map((word) => word.toLowerCase());
  return MCP_PRESETS.filter(({ name, summary }) =>
    wanted.some((word) => name.includes(word) || summary.toLowerCase().includes(word)),
  );
}
