// `hermes gateway`: run, start, stop and restart the gateway, show its status, install it as a service.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../core/failure.ts";
import type { JsonObject } from "../core/message.ts";
import { askGateway } from "../gateway-control/api/control-socket.ts";
import { EXIT } from "../gateway-control/api/exit-codes.ts";
import { isDetached, isInsideGateway, startDetached } from "../gateway-control/api/gateway-process.ts";
import { installedService, notifyService } from "../gateway-control/api/service-files.ts";
import type { CliCommand, CliContext, CliOption } from "./command.ts";
import { JSON_OPTION } from "./command.ts";
import { install, isRunning, program, START_MS, scope, service, stopRunning, uninstall } from "./gateway-service.ts";
import { setupPlatform } from "./gateway-setup.ts";

async function run(context: CliContext): Promise<number> {
  const { surfaces, home, terminal, values } = context;
  if (values.replace && (await isRunning(home))) {
    terminal.out("Replacing the running gateway.");
    await stopRunning(context);
  }
  for (;;) {
    const code = await surfaces.gateway(home, {
      out: (text) => (values.quiet ? undefined : terminal.out(text)),
      verbose: values.verbose === true,
      acceptHooks: values["accept-hooks"] === true,
    });
    // A service manager starts the gateway again; without one, this process does.
    if (code !== EXIT.restart || home.env.INVOCATION_ID !== undefined) return code;
    if (!isDetached(home)) continue;
    // A new process runs the program that is on disk now, for example after an update.
    await startDetached(home, program());
    return EXIT.ok;
  }
}

async function start(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  if (await isRunning(home)) {
    terminal.out("The gateway is running already.");
    return 0;
  }
  const installed = installedService(home, await service(home, scope(context)));
  const problem = installed ? await notifyService(home, installed, "start") : null;
  if (problem) terminal.err(`The service manager reports: ${problem}. Starting it directly.`);
  const managed = installed !== undefined && problem === null;
  let ended: string | undefined;
  if (!managed)
    (await startDetached(home, program())).ended.then((said) => {
      ended = said;
    });
  const deadline = Date.now() + START_MS;
  // A process that ended because another gateway started first has not failed.
  while (Date.now() < deadline && (ended === undefined || (await isRunning(home)))) {
    if (await askGateway(home, "status")) {
      terminal.out(`The gateway runs ${managed ? "as a service" : "in the background"}. See: hermes gateway status`);
      return 0;
    }
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  const said = ended?.trim().split("\n")[0];
  throw new UserError(`The gateway did not start${said ? `: ${said}` : "."}`, {
    hint: `Look at ${home.path}/logs/gateway.log and gateway-errors.log, or try: hermes gateway run -v`,
  });
}

async function stop(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  if (!(await isRunning(home))) {
    terminal.out("No gateway is running.");
    return 0;
  }
  if (await requestInsideTurn(context, "stop")) return 0;
  terminal.out("Stopping: running turns are finished first.");
  await stopRunning(context);
  terminal.out("Stopped.");
  return 0;
}

/** Inside a turn the command only sends the request: the gateway finishes that turn first, so waiting would deadlock. */
async function requestInsideTurn({ home, terminal }: CliContext, word: "stop" | "restart"): Promise<boolean> {
  if (!(await isInsideGateway(home))) return false;
  const installed = word === "stop" ? installedService(home, await service(home)) : undefined;
  if (!installed || (await notifyService(home, installed, "stop", { wait: false }))) await askGateway(home, word);
  terminal.out(`The gateway ${word}s when running turns are done, this one included.`);
  return true;
}

async function restart(context: CliContext): Promise<number> {
  if (await requestInsideTurn(context, "restart")) return 0;
  await stop(context);
  return start(context);
}

interface ShownPlatform {
  readonly name: string;
  readonly state: string;
  readonly account: string | null;
  readonly provenAt: number | null;
  readonly reason: string | null;
  readonly rebuilds: number;
}

function ago(at: number | null): string {
  return at === null ? "never" : `${Math.round((Date.now() - at) / 1000)} s ago`;
}

function platformLine(each: ShownPlatform): string {
  const marks: { readonly [state: string]: string } = { ok: "✓", degraded: "~", connecting: "…" };
  const who = each.account ? ` as ${each.account}` : "";
  const rebuilt = each.rebuilds > 0 ? `, rebuilt ${each.rebuilds} times since` : "";
  return `  ${marks[each.state] ?? "✗"} ${each.name}${who}: ${each.state}, last contact ${ago(each.provenAt)}${rebuilt}${each.reason ? `. ${each.reason}` : ""}`;
}

function deepLines(status: JsonObject): string[] {
  const mailbox = status.mailbox as { inbox: number; outbox: number; failed: number; oldestInbox: number | null };
  const cron = status.cron as { tickedAt: number; failure: string; late: boolean } | null;
  return [
    `Messages: ${mailbox.inbox} waiting or in progress${mailbox.oldestInbox ? ` (oldest ${ago(mailbox.oldestInbox)})` : ""}, ${mailbox.outbox} to send, ${mailbox.failed} not deliverable in the last day`,
    `Turns running: ${String(status.activeTurns)}; open conversations: ${String(status.openAgents)}`,
    cron
      ? `Scheduled jobs: last tick ${ago(cron.tickedAt)}${cron.late ? ", LATE" : ""}${cron.failure ? `, ${cron.failure}` : ""}`
      : "Scheduled jobs: not running",
  ];
}

/** Exit code 0: every platform is connected; 1: one is not, or the gateway does not answer; 3: no gateway runs. */
async function status({ home, terminal, values }: CliContext): Promise<number> {
  const answer = await askGateway(home, "status");
  if (!answer) {
    const held = await isRunning(home);
    if (values.json) terminal.out(JSON.stringify({ running: held, answering: false }));
    else
      terminal.out(
        held
          ? "A gateway holds the lock but does not answer."
          : "No gateway is running. Start it: hermes gateway start",
      );
    return held ? EXIT.failed : EXIT.alreadyRunning;
  }
  const platforms = (answer.platforms ?? []) as unknown as readonly ShownPlatform[];
  const healthy = platforms.every((each) => each.state === "ok" || each.state === "degraded");
  if (values.json) {
    terminal.out(JSON.stringify({ running: true, answering: true, ...answer }, null, 2));
    return healthy ? 0 : EXIT.failed;
  }
  terminal.out(
    `The gateway is ${String(answer.state)} (process ${String(answer.pid)}, since ${new Date(Number(answer.startedAt)).toISOString()}).`,
  );
  if (platforms.length === 0) terminal.out("  no platform is set up: hermes gateway setup");
  for (const each of platforms) terminal.out(platformLine(each));
  if (values.deep || values.full) for (const line of deepLines(answer)) terminal.out(line);
  return healthy ? 0 : EXIT.failed;
}

async function reload({ home, terminal, values }: CliContext): Promise<number> {
  const answer = await askGateway(home, "reload");
  if (!answer) throw new UserError("No gateway answers.", { hint: "See: hermes gateway status" });
  if (values.json) terminal.out(JSON.stringify(answer, null, 2));
  else if (typeof answer.problem === "string")
    throw new UserError(answer.problem, { hint: "Correct it: hermes config check" });
  else
    terminal.out(
      answer.changed
        ? "Read again. New messages use the new settings; connections of platforms change with: hermes gateway restart"
        : "Nothing has changed.",
    );
  return typeof answer.problem === "string" ? 1 : 0;
}

const SYSTEM: CliOption = { type: "boolean", help: "The service of the whole system, not of your account" };
const ALL: CliOption = { type: "boolean", help: "The gateways of all profiles" };

/** Runs the work for this home, or with `--all` for every home that has profiles or the default one. */
function forHomes(work: (context: CliContext) => Promise<number>): (context: CliContext) => Promise<number> {
  return async (context) => {
    if (context.values.all !== true) return work(context);
    const { home, terminal } = context;
    const profiles = await readdir(join(home.root, "profiles")).catch(() => []);
    const homes = [
      { path: home.root, profile: "default" },
      ...profiles.sort().map((profile) => ({ path: join(home.root, "profiles", profile), profile })),
    ];
    let worst = 0;
    for (const each of homes) {
      terminal.out(`${each.profile}:`);
      const env = { ...home.env, HERMES_HOME: each.path };
      worst = Math.max(worst, await work({ ...context, home: { ...home, ...each, env } }));
    }
    return worst;
  };
}

export const gatewayCommand: CliCommand = {
  name: "gateway",
  summary: "Serve the agent in chats",
  defaultSubcommand: "run",
  subcommands: [
    {
      name: "run",
      summary: "Run the gateway in this terminal until Ctrl-C",
      options: {
        replace: { type: "boolean", help: "Replace a running gateway" },
        verbose: { type: "boolean", short: "v", help: "Show the log here as well" },
        quiet: { type: "boolean", short: "q", help: "Print only warnings and errors" },
        "accept-hooks": { type: "boolean", help: "Run shell hooks that were not approved" },
      },
      maxPositionals: 0,
      run,
    },
    {
      name: "start",
      summary: "Run the gateway in the background",
      options: { system: SYSTEM, all: ALL },
      maxPositionals: 0,
      run: forHomes(start),
    },
    {
      name: "stop",
      summary: "Finish running turns, then stop",
      options: { system: SYSTEM, all: ALL },
      maxPositionals: 0,
      run: forHomes(stop),
    },
    {
      name: "restart",
      summary: "Stop, then start again",
      options: { system: SYSTEM, all: ALL },
      maxPositionals: 0,
      run: forHomes(restart),
    },
    {
      name: "reload",
      summary: "Read config.yaml and .env again without a restart",
      options: JSON_OPTION,
      maxPositionals: 0,
      run: reload,
    },
    {
      name: "status",
      summary: "Show which platforms are connected",
      options: {
        deep: { type: "boolean", help: "Also messages, turns and scheduled jobs" },
        full: { type: "boolean", short: "l", help: "The same as --deep" },
        system: SYSTEM,
        ...JSON_OPTION,
      },
      maxPositionals: 0,
      run: status,
    },
    {
      name: "install",
      summary: "Install the gateway as a service that starts at login, or with the machine",
      options: {
        system: { type: "boolean", help: "A service of the whole system, which starts at boot (needs root)" },
        "run-as-user": { type: "string", value: "USER", help: "The account of a service of the system" },
        force: { type: "boolean", help: "Replace a service file that was changed" },
      },
      maxPositionals: 0,
      run: install,
    },
    {
      name: "uninstall",
      summary: "Remove the service",
      options: { system: SYSTEM },
      maxPositionals: 0,
      run: uninstall,
    },
    {
      name: "setup",
      args: "[PLATFORM]",
      summary: "Set up a platform: asks in a terminal, else lists what is missing",
      options: { check: { type: "boolean", help: "Only sign in and report whether it works" } },
      maxPositionals: 1,
      run: setupPlatform,
    },
  ],
  examples: ["hermes gateway setup", "hermes gateway run -v", "hermes gateway status --deep"],
};
