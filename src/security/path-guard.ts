// Decides which files tools may read and write, based on the real path.
import { open, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import {
  classifyHomeWrite,
  classifySecretPath,
  classifyStartupPath,
  findProtectedRoots,
  type ProtectedRoots,
  relativeTo,
  secretFiles,
} from "./protected-paths.ts";
import { expandHome, isBelow, normalizePath, resolveRealPath } from "./real-path.ts";

export interface PathGuardOptions {
  readonly hermesHome: string;
  readonly userHome: string;
  /** HERMES_WRITE_SAFE_ROOT: when set, writing outside it is refused. */
  readonly safeRoot?: string | undefined;
}

/** Who runs the turn: a guest's tools may not read Hermes' homes or any secrets. */
export type PathPolicy = "owner" | "guest";

export interface PathRequest {
  /** `owner` when absent. */
  readonly policy?: PathPolicy | undefined;
  /** The folder of the conversation, which may be inside a home without being protected. */
  readonly workspace?: string | undefined;
}

export type PathVerdict =
  | { readonly action: "allow"; readonly realPath: string }
  /** The user may approve `ask`, but not `deny`. */
  | { readonly action: "ask" | "deny"; readonly realPath: string; readonly rule: string; readonly reason: string };

export interface PathGuard {
  write(path: string, cwd: string, request?: PathRequest): Promise<PathVerdict>;
  read(path: string, cwd: string, request?: PathRequest): Promise<PathVerdict>;
  /** For `@file` references and outgoing files: `ask` is turned into `deny`. */
  reference(path: string, cwd: string, request?: PathRequest): Promise<PathVerdict>;
}

interface PathRule {
  readonly rule: string;
  readonly action: "ask" | "deny";
  readonly reason: string;
  matches(path: string): boolean;
}

const SYSTEM_FOLDERS = ["/etc", "/boot", "/usr/lib/systemd", "/lib/systemd", "/private/etc", "/proc", "/sys", "/dev"];
const SOCKETS = ["/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock"];
const WRITABLE_DEVICES = new Set(["/dev/null", "/dev/stdout", "/dev/stderr"]);
/** Protected files that may have a second name through a hard link. */
const LINKABLE = {
  user: [".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".zprofile", ".gitconfig"],
  home: [
    "config.yaml",
    "state.db",
    "runtime.db",
    "SOUL.md",
    "memories/MEMORY.md",
    "memories/USER.md",
    "cron/jobs.json",
  ],
};

function below(rule: string, action: "ask" | "deny", reason: string, roots: readonly string[]): PathRule {
  return { rule, action, reason, matches: (path) => roots.some((root) => isBelow(root, path)) };
}

async function realRoots(base: string, names: readonly string[]): Promise<string[]> {
  const roots = names.map((name) => (base === "" ? name : join(base, name)));
  return [...new Set([...roots, ...(await Promise.all(roots.map((root) => resolveRealPath(root, "/"))))])];
}

const USE_TERMINAL = "change it in the terminal, where the user can approve it";
const USE_COMMAND = "it belongs to Hermes; use the matching tool or `hermes` command";

/** Folders and files of the system, which are the same for the whole run. */
interface SystemRoots {
  readonly folders: readonly string[];
  readonly sockets: readonly string[];
}

async function findSystemRoots(): Promise<SystemRoots> {
  const [real, sockets] = await Promise.all([realRoots("", ["/etc", "/boot"]), realRoots("", SOCKETS)]);
  return { folders: [...SYSTEM_FOLDERS, ...real], sockets };
}

function writeRules(places: ProtectedRoots, roots: SystemRoots, workspace?: string): PathRule[] {
  const rule = (id: string, action: "ask" | "deny", reason: string, matches: PathRule["matches"]): PathRule => ({
    rule: id,
    action,
    reason,
    matches,
  });
  return [
    rule("hermes_home", "deny", USE_COMMAND, (path) => classifyHomeWrite(path, places, workspace) === "own"),
    rule(
      "user_startup",
      "deny",
      `it is a start-up or credential file; ${USE_TERMINAL}`,
      (path) =>
        classifyStartupPath(path, places) === "file" ||
        (classifySecretPath(path, places) !== null && relativeTo(places.hermesHomes, path) === null),
    ),
    below("socket", "deny", "it is the socket of a container engine", roots.sockets),
    rule(
      "system",
      "deny",
      `it is a system file; ${USE_TERMINAL}`,
      (path) => !WRITABLE_DEVICES.has(path) && roots.folders.some((root) => isBelow(root, path)),
    ),
    rule(
      "hermes_trusted",
      "ask",
      "Hermes runs or trusts the files there",
      (path) => classifyHomeWrite(path, places, workspace) === "trusted",
    ),
    rule(
      "startup",
      "ask",
      "programs or shells read or run the files there",
      (path) => classifyStartupPath(path, places) !== null,
    ),
    rule("git_hooks", "ask", "git runs the files there", (path) =>
      /\/\.git\/(?:hooks\/|config$)/.test(normalizePath(path).split(sep).join("/")),
    ),
  ];
}

const DEVICE =
  /^\/dev\/(?!null$)|^\/proc\/(?:[^/]+\/)+(?:fd\/\d+|mem|environ|kcore|root(?:\/|$)|cwd(?:\/|$))|^\/proc\/(?:kcore|kmem)$/;

function readRules(places: ProtectedRoots, policy: PathPolicy): PathRule[] {
  const guest = policy === "guest";
  return [
    {
      rule: "hub_cache",
      action: "deny",
      reason: "it contains untrusted catalogue text; use the skills commands",
      matches: (path) => /^skills\/\.hub(?:\/|$)/.test(relativeTo(places.hermesHomes, path) ?? ""),
    },
    {
      rule: "device",
      action: "deny",
      reason: "it is a device or a process file",
      matches: (path) => DEVICE.test(path),
    },
    {
      rule: "guest_home",
      action: "deny",
      reason: "it belongs to the owner of this Hermes",
      matches: (path) => guest && classifyHomeWrite(path, places) !== null,
    },
    ...(["hermes_secrets", "credentials", "shadow"] as const).map(
      (rule): PathRule => ({
        rule,
        action: guest ? "deny" : "ask",
        reason: rule === "hermes_secrets" ? "it contains the keys of Hermes" : "it contains keys or passwords",
        matches: (path) => classifySecretPath(path, places)?.rule === rule,
      }),
    ),
  ];
}

/** True when the path is a hard link to a protected file. */
async function isLinkedTo(path: string, protectedFiles: () => readonly string[]): Promise<boolean> {
  const info = await stat(path).catch(() => null);
  if (!info || info.nlink < 2 || info.isDirectory()) return false;
  const others = await Promise.all(protectedFiles().map((file) => stat(file).catch(() => null)));
  return others.some((other) => other?.ino === info.ino && other.dev === info.dev);
}

const KEY_HEAD_BYTES = 4_096;

/** True for a file that starts with a private key block, under any name. */
async function containsPrivateKey(path: string): Promise<boolean> {
  try {
    const info = await stat(path);
    if (!info.isFile()) return false;
    const file = await open(path, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(KEY_HEAD_BYTES), 0, KEY_HEAD_BYTES, 0);
      return /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/.test(buffer.toString("latin1", 0, bytesRead));
    } finally {
      await file.close();
    }
  } catch {
    // The file does not exist or cannot be read, so its content cannot leak.
    return false;
  }
}

const refuse = (realPath: string, rule: Omit<PathRule, "matches">): PathVerdict => ({
  action: rule.action,
  realPath,
  rule: rule.rule,
  reason: `${realPath}: ${rule.reason}`,
});

/** Resolved roots are used this long: a home may become a link while the program runs. */
const ROOTS_MS = 5_000;

/** The value of `find`, found again after `ROOTS_MS`. */
function remembered<T>(find: () => T): () => T {
  let known: { readonly value: T; readonly at: number } | undefined;
  return () => {
    const now = performance.now();
    if (known === undefined || now - known.at > ROOTS_MS) known = { value: find(), at: now };
    return known.value;
  };
}

export function createPathGuard(options: PathGuardOptions): PathGuard {
  const protectedRoots = remembered(() => findProtectedRoots(options));
  const systemRoots = remembered(findSystemRoots);
  const check = async (path: string, cwd: string, rules: readonly PathRule[]): Promise<PathVerdict> => {
    const requested = expandHome(path.trim(), options.userHome);
    const realPath = await resolveRealPath(requested, cwd);
    // `/proc/self/root/etc` resolves to `/etc`; the given path is checked as well as the real one.
    const rule = rules.find((candidate) => candidate.matches(realPath)) ?? ruleForGivenPath(requested, rules);
    return rule ? refuse(realPath, rule) : { action: "allow", realPath };
  };
  const LINKED = { rule: "hard_link", reason: "it is a hard link to a protected file" } as const;
  const read: PathGuard["read"] = async (path, cwd, request = {}) => {
    const policy = request.policy ?? "owner";
    const places = protectedRoots();
    const verdict = await check(path, cwd, readRules(places, policy));
    if (verdict.action !== "allow" || !(await isLinkedTo(verdict.realPath, () => secretFiles(places)))) return verdict;
    return refuse(verdict.realPath, { ...LINKED, action: policy === "guest" ? "deny" : "ask" });
  };
  return {
    async write(path, cwd, request = {}) {
      const places = protectedRoots();
      const verdict = await check(path, cwd, writeRules(places, await systemRoots(), request.workspace));
      const { realPath } = verdict;
      if (verdict.action !== "allow") return verdict;
      if (options.safeRoot && !isBelow(await resolveRealPath(options.safeRoot, "/"), realPath)) {
        const reason = `${realPath}: writing is limited to ${options.safeRoot}`;
        return { action: "deny", realPath, rule: "safe_root", reason };
      }
      const linkable = () => [
        ...secretFiles(places),
        ...places.userHomes.flatMap((home) => LINKABLE.user.map((name) => join(home, name))),
        ...places.hermesHomes.flatMap((home) => LINKABLE.home.map((name) => join(home, name))),
      ];
      return (await isLinkedTo(realPath, linkable)) ? refuse(realPath, { ...LINKED, action: "deny" }) : verdict;
    },
    read,
    async reference(path, cwd, request) {
      const verdict = await read(path, cwd, request);
      if (verdict.action === "ask") return { ...verdict, action: "deny" };
      if (verdict.action === "deny" || !(await containsPrivateKey(verdict.realPath))) return verdict;
      return refuse(verdict.realPath, { rule: "private_key", action: "deny", reason: "it contains a private key" });
    },
  };
}

function ruleForGivenPath(requested: string, rules: readonly PathRule[]): PathRule | undefined {
  return rules.find((rule) => rule.rule === "device" && rule.matches(requested));
}
