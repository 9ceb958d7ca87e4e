// The gateway as a process and as a service: stop it, install and remove its service.
import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { loadStopSeconds, openGatewayLocks } from "../app/open-delivery.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import {
  askToStop,
  isGatewayRunning,
  startDetached,
  waitUntilStopped,
} from "../gateway-control/api/gateway-process.ts";
import {
  installedService,
  installService,
  notifyService,
  type Service,
  serviceFile,
  serviceManagerProblem,
  uninstallService,
} from "../gateway-control/api/service-files.ts";
import type { CliContext } from "./command.ts";

/** How long an answer of the gateway, or its start, may take. */
export const START_MS = 15_000;

/** The command that runs this program. */
export const program = (): string[] => [process.execPath, process.argv[1] ?? ""];

export function isRunning(home: Home): Promise<boolean> {
  return isGatewayRunning(home, openGatewayLocks(home));
}

export async function service(home: Home, system?: boolean): Promise<Service> {
  return { program: program(), stopSeconds: await loadStopSeconds(home), system };
}

/** `--system` means the service of the whole system; without it whichever is installed. */
export function scope({ values }: CliContext): true | undefined {
  return values.system === true ? true : undefined;
}

/** Stops the gateway: a service through the service manager, another process by a request. Resolves when its lock is free. */
export async function stopRunning(context: CliContext): Promise<void> {
  const { home, terminal } = context;
  const options = await service(home, scope(context));
  const installed = installedService(home, options);
  const problem = installed ? await notifyService(home, installed, "stop") : null;
  if (problem) terminal.err(`The service manager reports: ${problem}`);
  if (!(await isRunning(home))) return;
  if (!(await askToStop(home, openGatewayLocks(home), START_MS)))
    throw new UserError("The gateway holds its lock and does not answer.", {
      hint: `Stop its process manually; its id is in ${home.path}/gateway_state.json.`,
    });
  if (!(await waitUntilStopped(home, openGatewayLocks(home), options.stopSeconds * 1000)))
    throw new UserError("The gateway is still running.", { hint: "See: hermes gateway status --deep" });
}

function textValue({ values }: CliContext, name: string): string | undefined {
  const value = values[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The service to install. A service of the system runs as its user, not as root. */
async function serviceToInstall(context: CliContext): Promise<Service> {
  const { home, values } = context;
  const wanted = textValue(context, "run-as-user");
  if (wanted !== undefined && values.system !== true)
    throw new UserError("--run-as-user needs --system", { exitCode: 2 });
  const runAsUser = values.system ? (wanted ?? home.env.SUDO_USER ?? userInfo().username) : undefined;
  return { ...(await service(home, values.system === true)), runAsUser };
}

/** Refuses before anything is stopped, when it can be known that the service would not start. */
async function checkInstall({ home, values }: CliContext, options: Service): Promise<void> {
  if (options.system && process.getuid?.() !== 0)
    throw new UserError("A service of the system needs root.", {
      hint: "Run it with sudo, or leave --system out for a service of your own account.",
    });
  const problem = await serviceManagerProblem(home, options);
  if (problem)
    throw new UserError(`The service manager cannot be used: ${problem}. Nothing was changed.`, {
      hint: options.system
        ? "Run it in the background instead: hermes gateway start"
        : "Log in directly instead of with su or in a container, use --system as root, or run: hermes gateway start",
    });
  const file = serviceFile(home, options);
  const stored = await readFile(file.path, "utf8").catch(() => file.text);
  if (stored !== file.text && values.force !== true)
    throw new UserError(`${file.path} exists with other contents.`, {
      hint: "Replace it: hermes gateway install --force",
    });
}

/** When the service does not start, a gateway that ran before runs again. */
export async function install(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const options = await serviceToInstall(context);
  await checkInstall(context, options);
  const ran = await isRunning(home);
  if (ran) {
    terminal.out("Stopping the running gateway: the service replaces it.");
    await stopRunning(context);
  }
  const { file, problem } = await installService(home, options);
  terminal.out(`Wrote ${file.path}`);
  if (problem) {
    if (ran && !(await isRunning(home))) {
      await startDetached(home, program());
      terminal.out("The gateway runs in the background again.");
    }
    throw new UserError(`The service was written but not started: ${problem}`, {
      hint: "Start it manually, or use: hermes gateway start",
    });
  }
  terminal.out(
    file.system
      ? `From now on the gateway starts with this machine, as the user ${options.runAsUser ?? "root"}.`
      : "From now on the gateway starts when you log in. To keep it running after you log out: loginctl enable-linger",
  );
  return 0;
}

export async function uninstall(context: CliContext): Promise<number> {
  const { home, terminal } = context;
  const removed = await uninstallService(home, await service(home, scope(context)));
  if (removed) terminal.out(`Removed ${removed.file.path}${removed.problem ? ` (${removed.problem})` : ""}`);
  else terminal.out("No service is installed for this home.");
  return 0;
}
