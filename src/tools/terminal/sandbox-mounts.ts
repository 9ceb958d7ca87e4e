// What a sandboxed command sees of this machine: arguments of bubblewrap, made anew for every command.
import { existsSync } from "node:fs";
import { delimiter, join, relative, sep } from "node:path";

export interface Grants {
  readonly read: readonly string[];
  readonly write: readonly string[];
}

export interface SandboxPlace {
  readonly workspace: string;
  /** The person's home: hidden, but for what programs need to start. */
  readonly home: string;
  /** More folders to hide: Hermes' own home. */
  readonly hidden: readonly string[];
  /** Seen as /tmp; kept from one command to the next. */
  readonly temp: string;
  readonly network: boolean;
  /** PATH: folders of programs inside the home stay readable. */
  readonly path: string;
}

/** Tool chains that live in a home, and settings without secrets. */
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

export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && !way.startsWith(sep));
}

/** Folders of which nothing is shown: homes, and the sockets of services. */
export function hiddenFolders(place: SandboxPlace): string[] {
  const folders = ["/home", "/root", place.home, ...place.hidden].filter((folder) => folder !== "/");
  const outermost = folders.filter((folder) => !folders.some((other) => other !== folder && isInside(folder, other)));
  return [...new Set(outermost)].filter((folder) => !isInside(folder, "/tmp") && existsSync(folder));
}

/** A workspace that holds the home itself is not opened for writing: everything private would be in it. */
export function workspaceIsWritable(place: SandboxPlace): boolean {
  return place.workspace !== "/" && ![place.home, ...place.hidden].some((folder) => isInside(folder, place.workspace));
}

function readableInHome(place: SandboxPlace): string[] {
  const programs = place.path
    .split(delimiter)
    .filter((folder) => isInside(folder, place.home) && folder !== place.home);
  return [...NEEDED_IN_HOME.map((name) => join(place.home, name)), ...programs];
}

/** The program and its arguments, to be followed by the command. */
export function bubblewrap(
  place: SandboxPlace,
  grants: Grants,
  now: { readonly cwd: string; readonly stateFolder: string },
): string[] {
  const hidden = hiddenFolders(place);
  /** A folder around a hidden one is opened first, so that the hiding still holds. */
  const around = (path: string) => hidden.some((folder) => isInside(folder, path));
  const home = isInside(place.home, "/tmp") ? [] : [place.home];
  return [
    "bwrap",
    "--die-with-parent",
    "--unshare-pid",
    "--unshare-ipc",
    // An administrator's account could mount the system writable again.
    ...["--cap-drop", "ALL"],
    ...(place.network ? [] : ["--unshare-net"]),
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...["--tmpfs", "/run", "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve"],
    ...["--tmpfs", "/var/tmp", "--bind", place.temp, "/tmp"],
    ...grants.write.filter(around).flatMap((path) => ["--bind-try", path, path]),
    ...hidden.flatMap((folder) => ["--tmpfs", folder]),
    ...home.flatMap((folder) => ["--dir", folder, "--tmpfs", join(folder, ".cache")]),
    ...readableInHome(place).flatMap((path) => ["--ro-bind-try", path, path]),
    ...grants.read.filter((path) => !around(path)).flatMap((path) => ["--ro-bind-try", path, path]),
    ...(workspaceIsWritable(place) ? ["--bind", place.workspace, place.workspace] : []),
    ...grants.write.filter((path) => !around(path)).flatMap((path) => ["--bind-try", path, path]),
    ...["--bind", now.stateFolder, now.stateFolder],
    // What is hidden must also refuse writing: a file that seems written and is gone afterwards would be worse.
    ...hidden.flatMap((folder) => ["--remount-ro", folder]),
    ...["--chdir", now.cwd],
  ];
}
