// Writes a mount plan for `unshare`, where bubblewrap is not installed: a script that mounts and then runs the command.
import { execFile } from "node:child_process";
import { shellQuote } from "../lib/text/shell-quote.ts";
import type { Mount, MountPlan } from "./mount-plan.ts";

type Environment = { readonly [name: string]: string | undefined };

const PROBE_MS = 10_000;

function unshareArguments(network: boolean): string[] {
  const kinds = ["--user", "--map-root-user", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"];
  return ["unshare", ...kinds, ...(network ? [] : ["--net"])];
}

/** The new root is put together here. */
const ROOT = "/mnt";

function at(path: string): string {
  return shellQuote(`${ROOT}${path}`);
}

/** Creates the mount point when its folder is writable, as in a folder in memory. */
function bind(from: string, path: string, options: string): string {
  const source = shellQuote(from);
  const point = `{ [ -e ${at(path)} ] || { if [ -d ${source} ]; then mkdir -p ${at(path)}; else mkdir -p "$(dirname ${at(path)})" && : > ${at(path)}; fi; }; }`;
  const remount = options === "" ? "" : ` && mount -o remount,bind,${options} ${at(path)}`;
  return `if [ -e ${source} ]; then ${point} && mount --bind ${source} ${at(path)}${remount} || exit 125; fi`;
}

function lineOf(mount: Mount, plan: MountPlan): string {
  switch (mount.kind) {
    case "read":
      return bind(mount.from ?? mount.path, mount.path, "ro,nosuid,nodev");
    case "write":
      return bind(mount.from ?? mount.path, mount.path, "nosuid,nodev");
    case "empty":
      return `if [ -d ${at(mount.path)} ]; then mount -t tmpfs -o mode=755 tmpfs ${at(mount.path)} || exit 125; fi`;
    case "hide":
      return bind(plan.unreadable, mount.path, "ro");
    case "folder":
      return `mkdir -p ${at(mount.path)} || exit 125`;
    case "link":
      return `mkdir -p "$(dirname ${at(mount.path)})" && ln -sfn ${shellQuote(mount.to)} ${at(mount.path)} || exit 125`;
    case "device":
      return bind(mount.path, mount.path, "");
    case "seal":
      return `if mountpoint -q ${at(mount.path)}; then mount -o remount,ro ${at(mount.path)} || exit 125; fi`;
  }
}

const DEVICES = ["null", "zero", "full", "random", "urandom", "tty"];

function script(plan: MountPlan, ids: { readonly uid: number; readonly gid: number }): string {
  return [
    "mount --make-rprivate / || exit 125",
    `mount --rbind / ${ROOT} || exit 125`,
    // Every mount of the system becomes read-only, one by one.
    `while read -r _ _ _ _ point _; do case "$point" in ${ROOT}|${ROOT}/*) mount -o remount,bind,ro,nosuid "$point" 2>/dev/null || umount -l "$point" 2>/dev/null;; esac; done < /proc/self/mountinfo`,
    `mount -t tmpfs -o mode=755 tmpfs ${ROOT}/dev && mkdir ${ROOT}/dev/shm ${ROOT}/dev/pts && chmod 1777 ${ROOT}/dev/shm || exit 125`,
    ...DEVICES.map((name) => `: > ${ROOT}/dev/${name} && mount --bind /dev/${name} ${ROOT}/dev/${name} || exit 125`),
    `mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts ${ROOT}/dev/pts 2>/dev/null && ln -s pts/ptmx ${ROOT}/dev/ptmx`,
    `ln -s /proc/self/fd ${ROOT}/dev/fd; ln -s fd/0 ${ROOT}/dev/stdin; ln -s fd/1 ${ROOT}/dev/stdout; ln -s fd/2 ${ROOT}/dev/stderr`,
    `mount -t proc proc ${ROOT}/proc && mount --bind ${ROOT}/proc/sys ${ROOT}/proc/sys && mount -o remount,bind,ro ${ROOT}/proc/sys || exit 125`,
    ...plan.mounts.map((mount) => lineOf(mount, plan)),
    `cd ${ROOT} && mkdir -p ${ROOT}/tmp/.old-root && pivot_root . tmp/.old-root || exit 125`,
    "umount -l /tmp/.old-root && rmdir /tmp/.old-root || exit 125",
    `cd ${shellQuote(plan.cwd)} || exit 126`,
    `exec unshare --user --map-user=${ids.uid} --map-group=${ids.gid} setpriv --no-new-privs --bounding-set -all --inh-caps -all --ambient-caps -all -- "$@"`,
  ].join("\n");
}

/** The program and its arguments, to be followed by the command. */
export function unshare(
  plan: MountPlan,
  options: { readonly uid: number; readonly gid: number; readonly network: boolean },
): string[] {
  return [...unshareArguments(options.network), "sh", "-c", script(plan, options), "hermes"];
}

/** True when the kernel and util-linux allow all of it. */
export function unshareWorks(env: Environment): Promise<boolean> {
  const plan: MountPlan = { mounts: [{ kind: "empty", path: "/run" }], cwd: "/", unreadable: "/dev/null" };
  const ids = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const [program = "unshare", ...args] = [...unshare(plan, { ...ids, network: false }), "true"];
  return new Promise((resolve) =>
    execFile(program, args, { env: { PATH: env.PATH ?? "/usr/bin:/bin" }, timeout: PROBE_MS }, (error) =>
      resolve(error === null),
    ),
  );
}
