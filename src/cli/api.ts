// `hermes api`: runs the OpenAI-compatible server, shows its key and its status.
import { openApp } from "../app/compose.ts";
import { openServer } from "../app/open-server.ts";
import { openSettings } from "../config/api.ts";
import { rereadEnv } from "../home/api.ts";
import { ensureApiKey, serverState } from "../platforms/api-server/api.ts";
import { type CliCommand, type CliContext, integerOption, JSON_OPTION, textOption } from "./command.ts";

const WHERE = {
  host: { type: "string", value: "ADDRESS", help: "Address to listen on (127.0.0.1)" },
  port: { type: "string", value: "PORT", help: "Port to listen on (8642)" },
} as const;

function waitForStopSignal(): Promise<string> {
  return new Promise((resolve) => {
    const stop = (name: NodeJS.Signals) => resolve(name);
    for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, stop);
  });
}

async function run(context: CliContext): Promise<number> {
  const { terminal, home } = context;
  const key = await ensureApiKey(home, openSettings(home));
  // The environment is read again so that a new key is known and redacted from logs.
  rereadEnv(home);
  const app = await openApp(home, { host: "worker", onNotice: (text) => terminal.err(`notice: ${text}`) });
  try {
    for (const warning of app.warnings) terminal.err(`warning: ${warning}`);
    const host = textOption(context, "host");
    const port = integerOption(context, "port", { default: -1, max: 65_535 });
    const server = await openServer(app, {
      host,
      port: context.values.port === undefined ? undefined : port,
      onLog: (level, text) => terminal.err(`${level}: ${text}`),
    });
    terminal.err(`API server at ${server.url}/v1 (model ${server.modelName})`);
    terminal.err(
      `${key.made ? "A key was created; it" : "The key"} is stored in ${key.path}. Show it: hermes api key --show`,
    );
    terminal.err("Stop with Ctrl-C.");
    await waitForStopSignal();
    terminal.err("Stopping …");
    await server.close();
    return 0;
  } finally {
    await app.close();
  }
}

async function key(context: CliContext): Promise<number> {
  const { terminal, home } = context;
  const made = await ensureApiKey(home, openSettings(home), { renew: Boolean(context.values.new) });
  if (context.values.show) terminal.out(made.key);
  else
    terminal.out(
      `${made.made ? "A new key was created; it" : "The key"} is stored in ${made.path} as ${made.path.endsWith(".env") ? "API_SERVER_KEY" : "api_server.key"}. Show it: hermes api key --show`,
    );
  if (context.values.new) terminal.err("Restart a running server: it still uses the old key.");
  return 0;
}

/** The fields of `/health/detailed` that are printed. */
interface Health {
  readonly status?: string | undefined;
  readonly active_agents?: number | undefined;
  readonly active_runs?: number | undefined;
  readonly platforms?: {
    readonly [name: string]: { readonly state?: string | undefined; readonly reason?: string | null };
  };
}

function healthText({
  status = "ok",
  active_agents: turns = 0,
  active_runs: runs = 0,
  platforms = {},
}: Health): string {
  const lines = Object.entries(platforms).map(
    ([name, { state = "?", reason }]) => `\n  ${name}: ${state}${reason ? ` (${reason})` : ""}`,
  );
  return `${status}; ${turns} turns and ${runs} runs active${lines.join("")}`;
}

async function status(context: CliContext): Promise<number> {
  const { terminal, home } = context;
  const port = integerOption(context, "port", { default: -1, max: 65_535 });
  const state = await serverState(home, openSettings(home), {
    host: textOption(context, "host"),
    port: context.values.port === undefined ? undefined : port,
  });
  if (context.values.json) terminal.out(JSON.stringify(state, null, 2));
  else if (state.problem) terminal.out(`${state.url}: ${state.problem}`);
  else terminal.out(`${state.url}: ${healthText(state.detail as Health)}`);
  return state.problem ? 1 : 0;
}

export const apiCommand: CliCommand = {
  name: "api",
  summary: "Serve the agent to OpenAI clients",
  subcommands: [
    {
      name: "run",
      summary: "Serve until stopped",
      maxPositionals: 0,
      options: WHERE,
      examples: ["hermes api run", "hermes api run --host 0.0.0.0 --port 9000"],
      run,
    },
    {
      name: "key",
      summary: "Show where the key is stored; create one when missing",
      maxPositionals: 0,
      options: {
        show: { type: "boolean", help: "Print the key itself" },
        new: { type: "boolean", help: "Create a new key; the old one stops working" },
      },
      run: key,
    },
    {
      name: "status",
      summary: "Ask the server for its status",
      maxPositionals: 0,
      options: { ...WHERE, ...JSON_OPTION },
      run: status,
    },
  ],
};
