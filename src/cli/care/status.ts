// `hermes status`: the state of the program at a glance, without calling a model.
import { openGatewayLocks } from "../../app/open-delivery.ts";
import { openModelsContext } from "../../app/open-models.ts";
import { platformStates, withJobs } from "../../app/with-app.ts";
import { openSettings } from "../../config/api.ts";
import { formatError } from "../../core/failure.ts";
import { cronStatus } from "../../cron/api.ts";
import { isGatewayRunning } from "../../gateway-control/api/gateway-process.ts";
import { describeInstallation, installationText } from "../../install/api/installation.ts";
import { formatBytes } from "../../lib/terminal/columns.ts";
import { listProviders, showModel } from "../../providers/api/models.ts";
import { type CliCommand, type CliContext, JSON_OPTION } from "../command.ts";
import { withStore } from "../with-store.ts";

type Facts = { readonly [label: string]: string };

/** What cannot be found out is said instead of the value. */
async function fact(read: () => Promise<string>): Promise<string> {
  try {
    return await read();
  } catch (error) {
    return formatError(error);
  }
}

async function modelText(context: CliContext): Promise<string> {
  const { identity, limits } = await showModel(openModelsContext(context.home));
  if (identity.transport === "offline") return "none: the built-in offline model answers (hermes setup)";
  return `${identity.model} (${identity.provider}), window ${limits.contextLength.toLocaleString("en-US")}`;
}

async function keysText(context: CliContext): Promise<string> {
  const ready = (await listProviders(openModelsContext(context.home))).filter((row) => row.state === "ready");
  return ready.map((row) => row.label).join(", ") || "none";
}

async function chatsText(context: CliContext): Promise<string> {
  const ready = (await platformStates(context.home)).filter((platform) => platform.ready);
  return ready.map((platform) => platform.label).join(", ") || "none (hermes gateway setup)";
}

async function jobsText(context: CliContext): Promise<string> {
  const status = await withJobs(context.home, cronStatus);
  if (status.jobs === 0) return "none";
  return `${status.active} active, next ${status.next?.at ?? "never"}${status.alive ? "" : `; not running: ${status.problem}`}`;
}

export async function collectStatus(context: CliContext): Promise<Facts> {
  const { home } = context;
  const installation = describeInstallation(home);
  const [model, keys, sessions, terminal, gateway, chats, jobs] = await Promise.all([
    fact(() => modelText(context)),
    fact(() => keysText(context)),
    fact(() =>
      withStore(context, async (store) => {
        const stats = await store.stats();
        return `${stats.sessions} with ${stats.messages} messages, ${formatBytes(stats.fileBytes)}`;
      }),
    ),
    fact(async () => (await openSettings(home).inspect()).config.terminal.backend),
    fact(async () => ((await isGatewayRunning(home, openGatewayLocks(home))) ? "running" : "not running")),
    fact(() => chatsText(context)),
    fact(() => jobsText(context)),
  ]);
  return {
    Version: `${installation.version}, Node ${process.version}, ${process.platform} ${process.arch}`,
    Installed: installationText(installation),
    Home: `${home.path} (profile ${home.profile})`,
    Model: model,
    Keys: keys,
    Commands: `run in: ${terminal}`,
    Sessions: sessions,
    Gateway: gateway,
    Chats: chats,
    Jobs: jobs,
  };
}

export const statusCommand: CliCommand = {
  name: "status",
  summary: "Show model, keys, sessions, gateway, chats and jobs at a glance",
  maxPositionals: 0,
  options: { deep: { type: "boolean", help: "Also run the checks of hermes doctor" }, ...JSON_OPTION },
  run: async (context) => {
    const facts = await collectStatus(context);
    if (context.values.json) context.terminal.out(JSON.stringify(facts, null, 2));
    else for (const [label, value] of Object.entries(facts)) context.terminal.out(`${label.padEnd(10)} ${value}`);
    return context.values.deep ? context.again(["doctor"]) : 0;
  },
};
