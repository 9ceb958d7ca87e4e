// `hermes mcp`: adds, lists, tests, signs in to and removes MCP servers.
import { openSettings } from "../config/api.ts";
import { UserError } from "../core/failure.ts";
import type { McpServerStatus } from "../core/mcp.ts";
import { renderTable } from "../lib/terminal/columns.ts";
import {
  acceptTools,
  addServer,
  heldTools,
  listServers,
  removeServer,
  searchPresets,
  signInToServer,
  testServer,
} from "../mcp/api.ts";
import { type CliCommand, type CliContext, JSON_OPTION, textOption } from "./command.ts";

const STATES: { readonly [S in McpServerStatus["state"]]: string } = {
  off: "off",
  idle: "connects at the first call",
  connecting: "connecting",
  ready: "ready",
  failed: "failed",
  login: "needs a sign-in",
};

function requireName(context: CliContext): string {
  const [name] = context.positionals;
  if (name) return name;
  throw new UserError("which server?", { hint: "See: hermes mcp list", exitCode: 2 });
}

function texts(context: CliContext, name: string): string[] {
  const value = context.values[name];
  return Array.isArray(value) ? value.map(String) : [];
}

/** `NAME=VALUE` options as a map. */
function pairs(context: CliContext, name: string): { [key: string]: string } {
  return Object.fromEntries(
    texts(context, name).map((text) => {
      const at = text.indexOf("=");
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
      throw new UserError(`--${name} wants NAME=VALUE, not "${text}"`, { exitCode: 2 });
    }),
  );
}

async function add(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const name = requireName(context);
  const command = textOption(context, "command");
  const url = textOption(context, "url");
  if (command && url) throw new UserError("give --command or --url, not both", { exitCode: 2 });
  const env = pairs(context, "env");
  const headers = pairs(context, "header");
  const given = {
    ...(command ? { command, args: texts(context, "arg") } : {}),
    ...(url ? { url } : {}),
    ...(Object.keys(env).length > 0 ? { env } : {}),
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(context.values.oauth ? { auth: "oauth" } : {}),
    ...(context.values.sse ? { transport: "sse" } : {}),
    ...(context.values.contained ? { contained: true } : {}),
  };
  const needs = await addServer(openSettings(home), name, given);
  terminal.out(`Added ${name}. Try it: hermes mcp ${context.values.oauth ? "login" : "test"} ${name}`);
  if (needs) terminal.out(`It needs ${needs}`);
  return 0;
}

async function remove(context: CliContext): Promise<number> {
  const name = requireName(context);
  await removeServer(context.home, openSettings(context.home), name);
  context.terminal.out(`Removed ${name}.`);
  return 0;
}

async function list(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const servers = await listServers(home, openSettings(home));
  if (context.values.json) terminal.out(JSON.stringify(servers, null, 2));
  else if (servers.length === 0)
    terminal.out("No MCP servers. Add one: hermes mcp add NAME; known ones: hermes mcp search");
  else
    terminal.out(
      renderTable(
        terminal,
        [
          { title: "Server", value: (row) => row.name },
          { title: "By", value: (row) => row.transport },
          { title: "Tools", align: "right", value: (row) => String(row.tools.length) },
          { title: "State", flexible: true, minWidth: 20, value: (row) => describe(row) },
        ],
        servers,
      ).trimEnd(),
    );
  return 0;
}

function describe(row: McpServerStatus): string {
  const held = row.held.length > 0 ? `; ${row.held.length} tools to review: hermes mcp configure ${row.name}` : "";
  return `${STATES[row.state]}${row.reason ? `: ${row.reason}` : ""}${held}`;
}

async function test(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const status = await testServer(home, openSettings(home), requireName(context));
  if (context.values.json) terminal.out(JSON.stringify(status, null, 2));
  else if (status.state === "ready") {
    terminal.out(`${status.name} is ready after ${status.ms} ms (protocol ${status.protocol ?? "unknown"}).`);
    terminal.out(status.tools.length === 0 ? "It has no tools." : `Tools: ${status.tools.join(", ")}`);
  } else terminal.err(`${status.name}: ${describe(status)}. Its own messages are in logs/mcp-stderr.log.`);
  return status.state === "ready" ? 0 : 1;
}

/** Shows tools that are new or have changed; they are accepted after a yes. */
async function configure(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const settings = openSettings(home);
  const name = requireName(context);
  const status = await testServer(home, settings, name);
  if (status.state !== "ready") terminal.err(`${name}: ${describe(status)}. Showing what is known.`);
  const held = await heldTools(home, settings, name);
  if (held.length === 0) {
    terminal.out(`Nothing to review: the model sees ${status.tools.length} tools of ${name}.`);
    return 0;
  }
  for (const tool of held)
    terminal.out(
      `${terminal.style("bold", tool.name)} (${tool.isNew ? "new" : "changed"})\n  ${terminal.forOut(tool.description)}\n`,
    );
  const yes = Boolean(context.values.yes) || (await terminal.confirm(`Let the model see these ${held.length} tools?`));
  if (!yes) {
    terminal.out("Nothing was changed.");
    return 1;
  }
  await acceptTools(home, settings, name, held);
  terminal.out(`The model sees them in new conversations.`);
  return 0;
}

async function login(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const name = requireName(context);
  await signInToServer(home, openSettings(home), name, {
    show: (url) => {
      terminal.out(`Open this address in a browser:\n\n${url}\n`);
      terminal.err(
        "Waiting for the sign-in. On another machine: paste the address of the page that the browser ends at.",
      );
    },
    pasted: (signal) =>
      new Promise((resolve) => {
        if (!terminal.interactive) return;
        void terminal.ask("").then((line) => {
          if (line && !signal.aborted) resolve(line);
        });
      }),
  });
  terminal.out(`Signed in to ${name}.`);
  return 0;
}

async function search({ terminal, positionals, values }: CliContext): Promise<number> {
  const found = searchPresets(positionals);
  if (values.json) terminal.out(JSON.stringify(found, null, 2));
  else if (found.length === 0)
    terminal.err("No known server matches. Any other: hermes mcp add NAME --command PROGRAM, or --url ADDRESS");
  else
    terminal.out(
      renderTable(
        terminal,
        [
          { title: "Server", value: (row) => row.name },
          { title: "For", flexible: true, minWidth: 20, value: (row) => row.summary },
          { title: "Add", value: (row) => `hermes mcp add ${row.name}` },
        ],
        found,
      ).trimEnd(),
    );
  return found.length > 0 ? 0 : 1;
}

export const mcpCommand: CliCommand = {
  name: "mcp",
  summary: "Servers that give the model further tools (Model Context Protocol)",
  defaultSubcommand: "list",
  subcommands: [
    { name: "list", summary: "The servers and their state", options: JSON_OPTION, maxPositionals: 0, run: list },
    {
      name: "add",
      summary: "Add a server: a known one, a program or an address",
      args: "NAME",
      maxPositionals: 1,
      options: {
        command: { type: "string", value: "PROGRAM", help: "Program to start" },
        arg: { type: "string", multiple: true, value: "ARG", help: "An argument of the program; repeat for more" },
        env: { type: "string", multiple: true, value: "NAME=VALUE", help: "A variable of its environment" },
        contained: { type: "boolean", help: "Run the program in the container that commands run in" },
        url: { type: "string", value: "ADDRESS", help: "Address of a remote server" },
        header: { type: "string", multiple: true, value: "NAME=VALUE", help: "A header for a remote server" },
        oauth: { type: "boolean", help: "The remote server wants a sign-in" },
        sse: { type: "boolean", help: "The remote server speaks the older SSE transport" },
      },
      examples: [
        "hermes mcp add memory",
        "hermes mcp add files --command npx --arg -y --arg @modelcontextprotocol/server-filesystem --arg .",
        "hermes mcp add tracker --url https://mcp.example.org/mcp --oauth",
      ],
      run: add,
    },
    { name: "remove", summary: "Remove a server", args: "NAME", maxPositionals: 1, run: remove },
    {
      name: "test",
      summary: "Connect to a server and list its tools",
      args: "NAME",
      options: JSON_OPTION,
      maxPositionals: 1,
      run: test,
    },
    {
      name: "configure",
      summary: "Review tools that are new or have changed",
      args: "NAME",
      options: { yes: { type: "boolean", short: "y", help: "Accept them without asking" } },
      maxPositionals: 1,
      run: configure,
    },
    { name: "login", summary: "Sign in to a remote server", args: "NAME", maxPositionals: 1, run: login },
    { name: "search", summary: "Known servers", args: "[WORD…]", options: JSON_OPTION, run: search },
  ],
};
