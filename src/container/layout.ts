// Decides what a command sees of this machine: the system read-only, the workspace writable, secrets hidden.
import { existsSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { ContainedRun, NamedPermission } from "../core/container.ts";
import { isPathInside } from "../lib/path-inside.ts";
import { type GrantFacts, mountsOf } from "./grant-mounts.ts";
import { MOUNTED_CACHES, viewHome, writableInHome } from "./home-view.ts";
import type { Mount, MountPlan } from "./mount-plan.ts";
import { RUN_BY_EDITORS } from "./project-files.ts";
import type { Repository } from "./repository.ts";

export interface LayoutFacts extends GrantFacts {
  /** Real paths of the folders that commands may change; the first is the workspace. */
  readonly roots: readonly string[];
  /** The workspace belongs to a chat user who is not the owner: nothing of the owner's files is visible. */
  readonly apart?: boolean | undefined;
  /** Homes of Hermes, always hidden. */
  readonly hidden: readonly string[];
  /** Mounted as /tmp. */
  readonly temp: string;
  /** The folder with the private caches of this project. */
  readonly caches: string;
  readonly unreadable: string;
  /** Folders inside hidden ones that stay readable, such as installed skills. */
  readonly readable: readonly string[];
}

export interface Grants {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly named: ReadonlySet<NamedPermission>;
}

/** What changes between two commands. */
export interface ProjectFacts {
  readonly repositories: readonly Repository[];
  readonly secrets: readonly string[];
  readonly sockets: readonly string[];
  /** Files that replace those of this machine, such as resolv.conf. */
  readonly replaced: readonly { readonly path: string; readonly from: string }[];
}

/** Readable for root alone. */
const SYSTEM_SECRETS = [
  ...["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/krb5.keytab"],
  ...["/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key"],
];
const SYSTEM_FOLDERS = [
  ...["/etc/sudoers.d", "/etc/ssl/private", "/etc/wireguard", "/etc/NetworkManager/system-connections"],
  ...["/var/spool/cron", "/var/mail", "/var/spool/mail", "/var/lib/docker", "/var/lib/private"],
];
/** Parts of /run that programs need to start, where they exist. */
const RUN_NEEDED = ["/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers"];

export function isInside(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isPathInside(path, folder));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

const read = (path: string): Mount => ({ kind: "read", path });
const write = (path: string): Mount => ({ kind: "write", path });

/** The outermost folders that are replaced by empty ones. */
export function hiddenFolders(facts: LayoutFacts): string[] {
  const system = facts.uid === 0 ? SYSTEM_FOLDERS : [];
  const all = ["/home", "/root", facts.home, ...facts.hidden, ...system].filter((folder) => folder !== "/");
  const isShown = (folder: string) => folder === facts.home || !isPathInside(folder, "/tmp");
  return [...new Set(all)].filter((folder) => isShown(folder) && isFolder(folder));
}

function outermost(folders: readonly string[]): string[] {
  return folders.filter((folder) => !folders.some((other) => other !== folder && isPathInside(folder, other)));
}

/** The folders that commands may change: of a root that contains the home only its ordinary entries. */
export function writableRoots(facts: LayoutFacts): string[] {
  return facts.roots.flatMap((root) => {
    if (root === "/" || !existsSync(root)) return [];
    if (facts.hidden.includes(root)) return [];
    return isPathInside(facts.home, root) ? writableInHome(facts.home) : [root];
  });
}

/** What is visible of the home, apart from caches. */
export function visibleInHome(facts: LayoutFacts): string[] {
  const path = (facts.env.PATH ?? "").split(delimiter);
  const view = viewHome(facts.home, path);
  const shown = facts.apart ? view.programs : view.visible;
  return shown.filter((entry) => !isInside(entry, facts.hidden));
}

/** Where the private caches are mounted; the home has links to them. */
const CACHES = "/run/hermes-caches";

function cacheMounts({ home, caches }: LayoutFacts): Mount[] {
  return [
    ...MOUNTED_CACHES.map((name): Mount => ({ kind: "write", path: join(home, name), from: join(caches, name) })),
    { kind: "write", path: CACHES, from: caches },
    ...viewHome(home, []).caches.map(
      (name): Mount => ({
        kind: "link",
        path: join(home, name),
        to: join(CACHES, name),
      }),
    ),
  ];
}

function homeMounts(facts: LayoutFacts): Mount[] {
  const { home } = facts;
  const visible = visibleInHome(facts);
  const own: Mount[] = [
    { kind: "folder", path: home },
    ...cacheMounts(facts),
    ...visible.filter((path) => existsSync(path)).map(read),
  ];
  return [
    ...outermost(hiddenFolders(facts)).map((path): Mount => ({ kind: "empty", path })),
    ...(isFolder(home) ? own : []),
    ...facts.hidden
      .filter((path) => isFolder(path) && isInside(path, visible))
      .map((path): Mount => ({ kind: "empty", path })),
  ];
}

/** Pins the parents of a protected file, so that they cannot be renamed, and makes the file read-only. */
function protect(root: string, path: string): Mount[] {
  const parent = dirname(path);
  return [...(parent === root ? [] : [write(parent)]), read(path)];
}

function projectMounts(facts: LayoutFacts, grants: Grants, project: ProjectFacts, run: ContainedRun): Mount[] {
  const roots = writableRoots(facts);
  const open = (path: string) => isInside(path, grants.write);
  const settings = run.changesRepositorySettings ? [] : project.repositories.flatMap(({ settings: paths }) => paths);
  const repository = project.repositories.flatMap(({ protectedPaths }) => protectedPaths);
  const editors = roots.flatMap((root) =>
    RUN_BY_EDITORS.map((name) => join(root, name))
      .filter((path) => existsSync(path) && !open(path))
      .flatMap((path) => protect(root, path)),
  );
  return [
    ...roots.map(write),
    ...facts.hidden
      .filter((path) => isInside(path, roots) && isFolder(path))
      .map((path): Mount => ({ kind: "empty", path })),
    ...project.repositories.flatMap(({ folders }) => folders).map(write),
    ...[...repository, ...settings].filter((path) => !open(path)).map(read),
    ...editors,
    ...project.secrets
      .filter((path) => !open(path) && !isInside(path, grants.read) && existsSync(path))
      .map((path): Mount => ({ kind: "hide", path })),
  ];
}

function resolver(): string[] {
  try {
    const path = realpathSync("/etc/resolv.conf");
    return path.startsWith("/run/") ? [path] : [];
  } catch {
    // There is no resolver file.
    return [];
  }
}

/** Sockets that no other mount has removed. */
function visibleSockets(sockets: readonly string[], facts: LayoutFacts, grants: Grants): string[] {
  const roots = writableRoots(facts);
  const hidden = hiddenFolders(facts);
  const shown = [...visibleInHome(facts), ...roots, ...grants.read, ...grants.write];
  return sockets.filter((path) => {
    if (path.startsWith("/run/") || path.startsWith("/var/run/")) return false;
    if (isPathInside(path, "/tmp") || isPathInside(path, "/var/tmp")) return isInside(path, shown);
    return isInside(path, hidden) ? isInside(path, shown) : true;
  });
}

export function planMounts(facts: LayoutFacts, grants: Grants, project: ProjectFacts, run: ContainedRun): MountPlan {
  const hidden = hiddenFolders(facts);
  const containsHidden = (path: string) => hidden.some((folder) => isPathInside(folder, path));
  const named = [...grants.named].flatMap((name) => mountsOf(name, facts));
  const sealed = outermost(hidden).filter((path) => !isInside(path, grants.write));
  const mounts: Mount[] = [
    { kind: "empty", path: "/run" },
    ...[...RUN_NEEDED.filter((path) => existsSync(path)), ...resolver()].map(read),
    { kind: "empty", path: "/var/tmp" },
    { kind: "write", path: "/tmp", from: facts.temp },
    ...grants.write.filter(containsHidden).map(write),
    ...homeMounts(facts),
    ...(facts.uid === 0 ? SYSTEM_SECRETS : [])
      .filter((path) => existsSync(path))
      .map((path): Mount => ({ kind: "hide", path })),
    ...[...facts.readable, ...grants.read, ...(run.readable ?? [])].filter((path) => !containsHidden(path)).map(read),
    ...projectMounts(facts, grants, project, run),
    ...grants.write.filter((path) => !containsHidden(path)).map(write),
    ...(grants.named.has("services") || grants.named.has("docker")
      ? []
      : visibleSockets(project.sockets, facts, grants).map((path): Mount => ({ kind: "hide", path }))),
    ...named,
    ...project.replaced.map(({ path, from }): Mount => ({ kind: "read", path, from })),
    ...run.folders.map(write),
    ...sealed.map((path): Mount => ({ kind: "seal", path })),
  ];
  return { mounts, cwd: run.cwd, unreadable: facts.unreadable };
}
