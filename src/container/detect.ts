// Finds out whether commands can be contained on this machine, and by which program.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import type { ContainerState } from "../core/container.ts";
import { which } from "../lib/which.ts";

export interface Means {
  readonly how: "bubblewrap" | "unshare" | "sandbox-exec";
  /** bubblewrap 0.8 and later can forbid further user namespaces. */
  readonly disablesNamespaces: boolean;
}

export type Detected = { readonly means: Means } | { readonly reason: string; readonly hint: string };

type Environment = { readonly [name: string]: string | undefined };

const PROBE_MS = 10_000;
const BASE = ["--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL"];
const ROOT = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];

function attempt(program: string, args: readonly string[], env: Environment): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { env: { PATH: env.PATH ?? "/usr/bin:/bin" }, timeout: PROBE_MS };
    execFile(program, args, options, (error, _out, stderr) =>
      resolve(error ? stderr.trim().slice(-300) || error.message : null),
    );
  });
}

/** The command that installs bubblewrap on this system. */
export function installCommand(release = "/etc/os-release"): string {
  let text = "";
  try {
    text = readFileSync(release, "utf8");
  } catch {
    // Unknown system: the name of the package has to do.
    return "install the package bubblewrap";
  }
  const ids = [.../^ID(?:_LIKE)?="?([^"\n]+)"?$/gm[Symbol.matchAll](text)].flatMap((match) =>
    (match[1] ?? "").split(" "),
  );
  if (ids.some((id) => /^(?:debian|ubuntu)$/.test(id))) return "sudo apt-get install bubblewrap";
  if (ids.some((id) => /^(?:fedora|rhel|centos)$/.test(id))) return "sudo dnf install bubblewrap";
  if (ids.includes("arch")) return "sudo pacman -S bubblewrap";
  if (ids.includes("alpine")) return "sudo apk add bubblewrap";
  if (ids.some((id) => id.includes("suse"))) return "sudo zypper install bubblewrap";
  return "install the package bubblewrap";
}

function sysctl(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** Why the kernel refuses namespaces, and what an administrator can do. */
function refusal(message: string): { reason: string; hint: string } {
  const reason = `bubblewrap is installed, but this system refuses it: ${message}`;
  if (sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === "1")
    return { reason, hint: "Allow it in AppArmor: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" };
  if (sysctl("/proc/sys/kernel/unprivileged_userns_clone") === "0")
    return { reason, hint: "Allow user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1" };
  if (sysctl("/proc/sys/user/max_user_namespaces") === "0")
    return { reason, hint: "Allow user namespaces: sudo sysctl -w user.max_user_namespaces=15000" };
  return {
    reason,
    hint: "In a container of docker or a virtual machine for Hermes alone, declare it the boundary: hermes config set terminal.container host",
  };
}

async function detectLinux(env: Environment): Promise<Detected> {
  if (which("bwrap", env.PATH) !== undefined) {
    if ((await attempt("bwrap", [...BASE, "--disable-userns", ...ROOT, "true"], env)) === null)
      return { means: { how: "bubblewrap", disablesNamespaces: true } };
    const problem = await attempt("bwrap", [...BASE, ...ROOT, "true"], env);
    if (problem === null) return { means: { how: "bubblewrap", disablesNamespaces: false } };
    return refusal(problem);
  }
  const { unshareWorks } = await import("./unshare.ts");
  if (await unshareWorks(env)) return { means: { how: "unshare", disablesNamespaces: false } };
  return { reason: "bubblewrap (bwrap) is not installed", hint: `Install it: ${installCommand()}` };
}

/** Takes about 20 ms on Linux. */
export async function detectMeans(env: Environment, platform: string = process.platform): Promise<Detected> {
  if (platform === "linux") return detectLinux(env);
  if (platform === "darwin" && which("sandbox-exec", env.PATH ?? "/usr/bin") !== undefined)
    return { means: { how: "sandbox-exec", disablesNamespaces: false } };
  return {
    reason: `there is no container for ${platform}`,
    hint: "Use terminal.backend docker or ssh, or declare the machine the boundary: hermes config set terminal.container host",
  };
}

export function stateOf(setting: string, detected: Detected): ContainerState {
  if (setting === "host") return { kind: "host" };
  if (!("means" in detected)) return { kind: "none", ...detected };
  return { kind: "contained", how: detected.means.how };
}
