// Writes a mount plan as arguments of bubblewrap.
import type { Mount, MountPlan } from "./mount-plan.ts";

export interface BubblewrapOptions {
  readonly uid: number;
  readonly gid: number;
  /** `--disable-userns`, since bubblewrap 0.8. */
  readonly disablesNamespaces: boolean;
  /** False for no network. */
  readonly network: boolean;
}

/** Writable for root even without capabilities. */
const KERNEL_FILES = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi"];

function argumentsOf(mount: Mount, plan: MountPlan): string[] {
  switch (mount.kind) {
    case "read":
      return ["--ro-bind-try", mount.from ?? mount.path, mount.path];
    case "write":
      return ["--bind-try", mount.from ?? mount.path, mount.path];
    case "empty":
      return ["--tmpfs", mount.path];
    case "hide":
      return ["--ro-bind", plan.unreadable, mount.path];
    case "folder":
      return ["--dir", mount.path];
    case "link":
      return ["--symlink", mount.to, mount.path];
    case "device":
      return ["--dev-bind-try", mount.path, mount.path];
    case "seal":
      return ["--remount-ro", mount.path];
  }
}

/** The program and its arguments, to be followed by the command. */
export function bubblewrap(plan: MountPlan, options: BubblewrapOptions): string[] {
  return [
    ...["bwrap", "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-user"],
    ...["--uid", String(options.uid), "--gid", String(options.gid), "--cap-drop", "ALL"],
    ...(options.disablesNamespaces ? ["--disable-userns"] : []),
    ...(options.network ? [] : ["--unshare-net"]),
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...(options.uid === 0 ? KERNEL_FILES : []).flatMap((path) => ["--ro-bind-try", path, path]),
    ...plan.mounts.flatMap((mount) => argumentsOf(mount, plan)),
    ...["--chdir", plan.cwd],
  ];
}
