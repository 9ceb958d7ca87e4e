// Writes a mount plan as a profile for sandbox-exec of macOS. Untested on a Mac so far; `hermes security audit` says so.
import type { MountPlan } from "./mount-plan.ts";

const quote = (path: string): string => `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;

/** Later rules win, as later mounts do. */
export function sandboxProfile(plan: MountPlan, options: { readonly network: boolean }): string {
  const rules = plan.mounts.flatMap((mount): string[] => {
    const path = `(subpath ${quote(mount.path)})`;
    switch (mount.kind) {
      case "read":
        return [`(allow file-read* ${path})`, `(deny file-write* ${path})`];
      case "write":
        return [`(allow file-read* file-write* ${path})`];
      case "empty":
      case "hide":
        return [`(deny file-read* file-write* ${path})`];
      default:
        return [];
    }
  });
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    '(allow file-write* (literal "/dev/null") (literal "/dev/tty") (subpath "/dev/fd"))',
    '(deny file-read* (subpath "/Library/Keychains"))',
    '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.securityd"))',
    options.network ? '(deny network-outbound (remote ip "localhost:*"))' : "(deny network*)",
    "(deny network-outbound (remote unix-socket))",
    "(deny signal (target others))",
    ...rules,
  ].join("\n");
}

/** The program and its arguments, to be followed by the command. */
export function sandboxExec(plan: MountPlan, options: { readonly network: boolean }): string[] {
  return ["sandbox-exec", "-p", sandboxProfile(plan, options), "env", "-C", plan.cwd];
}
