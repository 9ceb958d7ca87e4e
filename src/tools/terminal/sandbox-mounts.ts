// Builds the arguments of bubblewrap: which files of this machine a command sees.
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { isPathInside } from "../../lib/path-inside.ts";

export interface Grants {
  readonly read: readonly string[];
  readonly write: readonly string[];
}

export interface SandboxLayout {
  readonly workspace: string;
  /** The user's home: hidden, except what programs need to start. */
  readonly home: string;
  /** Additional folders to hide, such as the home of Hermes. */
  readonly hidden: readonly string[];
  /** Mounted as /tmp; kept between commands. */
  readonly temp: string;
  readonly network: boolean;
  /** PATH; its folders inside the home stay readable. */
  readonly path: string;
}

/** Tool chains in the home, and settings without secrets. */
const NEEDED_IN_HOME = [
  ".local/bin",
  ".local/lib",
  ".nvm",
  ".volta",
  ".pyenv",
  ".rbenv",
  ".rustup",
  ".cargo/bin",
  ".bun/bin",
  ".deno/bin",
  "go/bin",
  ".gitconfig",
  ".config/git/config",
  ".config/git/ignore",
];

/** The outermost existing folders whose content is hidden: all homes and `hidden`. */
export function hiddenFolders(layout: SandboxLayout): string[] {
  const folders = ["/home", "/root", layout.home, ...layout.hidden].filter((folder) => folder !== "/");
  const outermost = folders.filter(
    (folder) => !folders.some((other) => other !== folder && isPathInside(folder, other)),
  );
  return [...new Set(outermost)].filter((folder) => !isPathInside(folder, "/tmp") && existsSync(folder));
}

/** A workspace that contains the home is not writable: it would include private files. */
export function workspaceIsWritable(layout: SandboxLayout): boolean {
  return (
    layout.workspace !== "/" &&
    ![layout.home, ...layout.hidden].some((folder) => isPathInside(folder, layout.workspace))
  );
}

function readableInHome(layout: SandboxLayout): string[] {
  const programs = layout.path
    .split(delimiter)
    .filter((folder) => isPathInside(folder, layout.home) && folder !== layout.home);
  return [...NEEDED_IN_HOME.map((name) => join(layout.home, name)), ...programs];
}

/** The program and its arguments, to be followed by the command. */
export function bubblewrap(
  layout: SandboxLayout,
  grants: Grants,
  folders: { readonly cwd: string; readonly stateFolder: string },
): string[] {
  const hidden = hiddenFolders(layout);
  /** Parents of hidden folders are mounted first, so that the hidden folders stay hidden. */
  const containsHidden = (path: string) => hidden.some((folder) => isPathInside(folder, path));
  const home = isPathInside(layout.home, "/tmp") ? [] : [layout.home];
  return [
    "bwrap",
    "--die-with-parent",
    "--unshare-pid",
    "--unshare-ipc",
    // With capabilities, root could remount the system writable.
    ...["--cap-drop", "ALL"],
    ...(layout.network ? [] : ["--unshare-net"]),
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...["--tmpfs", "/run", "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"],
    ...["--tmpfs", "/var/tmp", "--bind", layout.temp, "/tmp"],
    ...grants.write.filter(containsHidden).flatMap((path) => ["--bind-try", path, path]),
    ...hidden.flatMap((folder) => ["--tmpfs", folder]),
    ...home.flatMap((folder) => ["--dir", folder, "--tmpfs", join(folder, ".cache")]),
    ...readableInHome(layout).flatMap((path) => ["--ro-bind-try", path, path]),
    ...grants.read.filter((path) => !containsHidden(path)).flatMap((path) => ["--ro-bind-try", path, path]),
    ...(workspaceIsWritable(layout) ? ["--bind", layout.workspace, layout.workspace] : []),
    ...grants.write.filter((path) => !containsHidden(path)).flatMap((path) => ["--bind-try", path, path]),
    ...["--bind", folders.stateFolder, folders.stateFolder],
    // Hidden folders are read-only too: otherwise written files would silently disappear.
    ...hidden.flatMap((folder) => ["--remount-ro", folder]),
    ...["--chdir", folders.cwd],
  ];
}
