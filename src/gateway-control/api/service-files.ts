// The gateway as a system service: installs and removes a systemd user unit or a launchd agent.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir, platform } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { EXIT } from "./exit-codes.ts";

const run = promisify(execFile);

export type ServiceKind = "systemd" | "launchd";

export interface ServiceFile {
  readonly kind: ServiceKind;
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** A unit of the whole system, which starts at boot; else one of the user. */
  readonly system: boolean;
}

/** Each home has its own service; that of the default home has no suffix. */
function suffix(home: Home, userHome: string): string {
  if (home.path === join(userHome, ".hermes")) return "";
  return `-${createHash("sha256").update(home.path).digest("hex").slice(0, 8)}`;
}

function quote(word: string): string {
  return `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;
}

function systemdUnit(home: Home, { program, stopSeconds, system, runAsUser }: Service): string {
  return `[Unit]
Description=Hermes gateway (${home.profile})
After=network-online.target
StartLimitIntervalSec=600
StartLimitBurst=20

[Service]
Type=simple${runAsUser ? `\nUser=${runAsUser}` : ""}
ExecStart=${[...program, "gateway", "run"].map((word) => quote(word).replaceAll("$", "$$$$")).join(" ")}
Environment=${quote(`HERMES_HOME=${home.path}`)}
Environment=${quote(`PATH=${home.env.PATH ?? "/usr/local/bin:/usr/bin:/bin"}`)}
Restart=always
RestartSec=5
RestartPreventExitStatus=${EXIT.alreadyRunning}
SuccessExitStatus=${EXIT.restart}
KillMode=mixed
TimeoutStopSec=${stopSeconds}

[Install]
WantedBy=${system ? "multi-user.target" : "default.target"}
`;
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function launchdPlist(home: Home, label: string, { program, stopSeconds }: Service): string {
  const args = [...program, "gateway", "run"].map((word) => `    <string>${xml(word)}</string>`).join("\n");
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${label}</string>
  <key>ProgramArguments</key>
  <array>
${args}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>HERMES_HOME</key><string>${xml(home.path)}</string>
    <key>PATH</key><string>${xml(home.env.PATH ?? "/usr/local/bin:/usr/bin:/bin")}</string>
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><true/>
  <key>ThrottleInterval</key><integer>10</integer>
  <key>ExitTimeOut</key><integer>${stopSeconds}</integer>
</dict>
</plist>
`;
}

export interface Service {
  /** The command line of this program. */
  readonly program: readonly string[];
  /** How long it may take to stop. */
  readonly stopSeconds: number;
  /** A service of the whole system instead of the user's. */
  readonly system?: boolean | undefined;
  /** The account that a service of the system runs as. */
  readonly runAsUser?: string | undefined;
}

const SYSTEM_UNITS = "/etc/systemd/system";

/** The file to install; writes nothing. */
export function serviceFile(home: Home, service: Service, system: string = platform()): ServiceFile {
  const userHome = home.env.HOME ?? homedir();
  if (system === "linux") {
    const name = `hermes-gateway${suffix(home, userHome)}`;
    const units = home.env.XDG_CONFIG_HOME ?? join(userHome, ".config");
    const folder = service.system ? SYSTEM_UNITS : join(units, "systemd", "user");
    const path = join(folder, `${name}.service`);
    return { kind: "systemd", name, path, text: systemdUnit(home, service), system: service.system ?? false };
  }
  if (system === "darwin") {
    const name = `ai.hermes.gateway${suffix(home, userHome)}`;
    const path = join(userHome, "Library", "LaunchAgents", `${name}.plist`);
    return { kind: "launchd", name, path, text: launchdPlist(home, name, service), system: false };
  }
  throw new UserError("Hermes supports no service manager of this system.", {
    hint: "Run it in the background instead: hermes gateway start",
  });
}

/** Runs the service manager; returns its error, or null. Without a time-out: service managers have their own. */
async function runServiceManager(command: string, args: readonly string[], home: Home): Promise<string | null> {
  try {
    await run(command, [...args], { env: { ...home.env } });
    return null;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string | undefined };
    return (stderr || message).trim().split("\n")[0] ?? "it failed";
  }
}

/** The service that runs the gateway of this home, the user's own first; undefined when none is installed. */
export function installedService(home: Home, service: Service): ServiceFile | undefined {
  if (!["linux", "darwin"].includes(platform())) return undefined;
  const scopes = service.system === undefined ? [false, true] : [service.system];
  return scopes.map((system) => serviceFile(home, { ...service, system })).find(({ path }) => existsSync(path));
}

function scopeFlags(file: ServiceFile): readonly string[] {
  return file.system ? [] : ["--user"];
}

/** Why the service manager cannot be used, before anything is changed; null when it can. */
export async function serviceManagerProblem(home: Home, service: Service): Promise<string | null> {
  const file = serviceFile(home, service);
  if (file.kind !== "systemd") return null;
  return runServiceManager("systemctl", [...scopeFlags(file), "show-environment"], home);
}

/**
 * Starts or stops through the service manager: it would restart a gateway that was stopped otherwise. Returns its error,
 * or null.
 */
export function notifyService(
  home: Home,
  file: ServiceFile,
  word: "start" | "stop",
  options: { readonly wait?: boolean | undefined } = {},
): Promise<string | null> {
  const waitFlags = options.wait === false ? ["--no-block"] : [];
  if (file.kind === "systemd")
    return runServiceManager("systemctl", [...scopeFlags(file), ...waitFlags, word, `${file.name}.service`], home);
  return runServiceManager("launchctl", [word === "start" ? "load" : "unload", file.path], home);
}

/** Writes the file and starts the service. `problem` is the error of the service manager, or null. */
export async function installService(
  home: Home,
  service: Service,
): Promise<{ file: ServiceFile; problem: string | null }> {
  const file = serviceFile(home, service);
  await atomicWrite(file.path, file.text, 0o644);
  if (file.kind === "launchd")
    return { file, problem: await runServiceManager("launchctl", ["load", "-w", file.path], home) };
  const problem =
    (await runServiceManager("systemctl", [...scopeFlags(file), "daemon-reload"], home)) ??
    (await runServiceManager("systemctl", [...scopeFlags(file), "enable", "--now", `${file.name}.service`], home));
  return { file, problem };
}

/** Null when no service was installed. */
export async function uninstallService(
  home: Home,
  service: Service,
): Promise<{ file: ServiceFile; problem: string | null } | null> {
  const file = installedService(home, service);
  if (!file) return null;
  const problem =
    file.kind === "launchd"
      ? await runServiceManager("launchctl", ["unload", "-w", file.path], home)
      : await runServiceManager("systemctl", [...scopeFlags(file), "disable", "--now", `${file.name}.service`], home);
  await rm(file.path, { force: true });
  if (file.kind === "systemd") await runServiceManager("systemctl", [...scopeFlags(file), "daemon-reload"], home);
  return { file, problem };
}
