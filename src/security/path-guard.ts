// Which files tools may not write or read, judged by where a path really leads.
import { stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { comparable, expandHome, isBelow, realPathOf } from "./real-path.ts";

export interface PathGuardOptions {
  readonly hermesHome: string;
  readonly userHome: string;
  /** HERMES_WRITE_SAFE_ROOT: when set, nothing outside may be written. */
  readonly safeRoot?: string;
}

export type PathVerdict =
  | { readonly action: "allow"; readonly realPath: string }
  /** `ask` may be approved by the person; `deny` may not. */
  | { readonly action: "ask" | "deny"; readonly realPath: string; readonly rule: string; readonly reason: string };

export interface PathGuard {
  write(path: string, cwd: string): Promise<PathVerdict>;
  read(path: string, cwd: string): Promise<PathVerdict>;
  /** For `@file` references: credentials are refused outright. */
  reference(path: string, cwd: string): Promise<PathVerdict>;
}

interface PathRule {
  readonly rule: string;
  readonly action: "ask" | "deny";
  readonly reason: string;
  matches(path: string): boolean;
}

const USER_FILES = [
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zlogin",
  ".zprofile",
  ".netrc",
  ".pgpass",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
  ".gitconfig",
  ".config/fish/config.fish",
];
const USER_FOLDERS = [
  ".ssh",
  ".aws",
  ".gnupg",
  ".kube",
  ".docker",
  ".azure",
  ".config/gh",
  ".config/gcloud",
  ".config/autostart",
  ".config/systemd",
  "Library/LaunchAgents",
];
const SYSTEM_FOLDERS = ["/etc", "/boot", "/usr/lib/systemd", "/lib/systemd", "/private/etc", "/proc", "/sys", "/dev"];
const SOCKETS = ["/var/run/docker.sock", "/run/docker.sock", "/run/podman/podman.sock"];
const WRITABLE_DEVICES = new Set(["/dev/null", "/dev/stdout", "/dev/stderr"]);
const HOME_FILES = ["config.yaml", ".env", "auth.json", "state.db", "state.db-wal", "state.db-shm", "runtime.db"];
const HOME_MORE = ["runtime.db-wal", "runtime.db-shm", "shell-hooks-allowlist.json", "sessions/sessions.json"];
const HOME_TRUSTED = ["skills", "hooks", "plugins", "scripts", "bin", "cron", "platforms", "mcp-tokens"];
const CREDENTIALS = [
  ".ssh/id_rsa",
  ".ssh/id_dsa",
  ".ssh/id_ecdsa",
  ".ssh/id_ed25519",
  ".netrc",
  ".pgpass",
  ".git-credentials",
  ".aws/credentials",
  ".gnupg",
  ".kube/config",
  ".docker/config.json",
  ".config/gh/hosts.yml",
  ".azure",
  ".npmrc",
  ".pypirc",
];

function below(rule: string, action: "ask" | "deny", reason: string, roots: readonly string[]): PathRule {
  return { rule, action, reason, matches: (path) => roots.some((root) => isBelow(root, path)) };
}

async function realRoots(base: string, names: readonly string[]): Promise<string[]> {
  const roots = names.map((name) => (base === "" ? name : join(base, name)));
  return [...new Set([...roots, ...(await Promise.all(roots.map((root) => realPathOf(root, "/"))))])];
}

const USE_TERMINAL = "change it in the terminal, where the person can approve";

async function writeRules(options: PathGuardOptions): Promise<PathRule[]> {
  const { hermesHome, userHome } = options;
  const own = await realRoots(hermesHome, [...HOME_FILES, ...HOME_MORE]);
  const trusted = await realRoots(hermesHome, HOME_TRUSTED);
  const files = await realRoots(userHome, USER_FILES);
  const folders = await realRoots(userHome, USER_FOLDERS);
  const system = [...SYSTEM_FOLDERS, ...(await realRoots("", ["/etc", "/boot"]))];
  return [
    below("hermes_home", "deny", "it belongs to Hermes itself; use `hermes config` or the matching command", own),
    below("user_startup", "deny", `it is a start-up or credential file; ${USE_TERMINAL}`, files),
    below("user_credentials", "deny", `it lies in a credential or start-up folder; ${USE_TERMINAL}`, folders),
    below("socket", "deny", "it is the socket of a container engine", await realRoots("", SOCKETS)),
    {
      ...below("system", "deny", `it is a system file; ${USE_TERMINAL}`, system),
      matches: (path) => !WRITABLE_DEVICES.has(path) && system.some((root) => isBelow(root, path)),
    },
    below("hermes_trusted", "ask", "Hermes runs or trusts what lies there", trusted),
    {
      rule: "git_hooks",
      action: "ask",
      reason: "git runs what lies there",
      matches: (path) => /\/\.git\/(?:hooks\/|config$)/.test(comparable(path).split(sep).join("/")),
    },
  ];
}

const DEVICE =
  /^\/dev\/(?!null$)|^\/proc\/(?:[^/]+\/)+(?:fd\/\d+|mem|environ|kcore|root(?:\/|$)|cwd(?:\/|$))|^\/proc\/(?:kcore|kmem)$/;

async function readRules(options: PathGuardOptions): Promise<PathRule[]> {
  const hub = await realRoots(options.hermesHome, ["skills/.hub"]);
  const own = await realRoots(options.hermesHome, [".env", "auth.json", "mcp-tokens"]);
  const credentials = await realRoots(options.userHome, CREDENTIALS);
  return [
    below("hub_cache", "deny", "it holds catalogue text from strangers; use the skills commands", hub),
    {
      rule: "device",
      action: "deny",
      reason: "it is a device or a process file",
      matches: (path) => DEVICE.test(path),
    },
    below("hermes_secrets", "ask", "it holds the keys of Hermes", own),
    below("credentials", "ask", "it holds credentials", credentials),
    below("shadow", "ask", "it holds password hashes", ["/etc/shadow", "/etc/gshadow", "/etc/sudoers"]),
  ];
}

/** A second name of a protected file (hard link) is the same file. */
async function isLinkedTo(path: string, protectedFiles: readonly string[]): Promise<boolean> {
  const info = await stat(path).catch(() => null);
  if (!info || info.nlink < 2 || info.isDirectory()) return false;
  const others = await Promise.all(protectedFiles.map((file) => stat(file).catch(() => null)));
  return others.some((other) => other?.ino === info.ino && other.dev === info.dev);
}

export function createPathGuard(options: PathGuardOptions): PathGuard {
  const judge = async (path: string, cwd: string, rules: readonly PathRule[]): Promise<PathVerdict> => {
    const asked = expandHome(path.trim(), options.userHome);
    const realPath = await realPathOf(asked, cwd);
    // `/proc/self/root/etc` resolves to `/etc`; the spelling is judged too, for what links cannot tell.
    const rule = rules.find((candidate) => candidate.matches(realPath)) ?? spelledRule(asked, rules);
    return rule ? refuse(realPath, rule) : { action: "allow", realPath };
  };
  const refuse = (realPath: string, rule: PathRule): PathVerdict => ({
    action: rule.action,
    realPath,
    rule: rule.rule,
    reason: `${realPath}: ${rule.reason}`,
  });
  return {
    async write(path, cwd) {
      const verdict = await judge(path, cwd, await writeRules(options));
      const { realPath } = verdict;
      if (verdict.action !== "allow") return verdict;
      if (options.safeRoot && !isBelow(await realPathOf(options.safeRoot, "/"), realPath)) {
        const reason = `${realPath}: writing is limited to ${options.safeRoot}`;
        return { action: "deny", realPath, rule: "safe_root", reason };
      }
      const files = [...USER_FILES, ...CREDENTIALS].map((name) => join(options.userHome, name));
      const own = HOME_FILES.map((name) => join(options.hermesHome, name));
      if (await isLinkedTo(realPath, [...files, ...own]))
        return {
          action: "deny",
          realPath,
          rule: "hard_link",
          reason: `${realPath}: it is another name of a protected file`,
        };
      return verdict;
    },
    read: async (path, cwd) => judge(path, cwd, await readRules(options)),
    async reference(path, cwd) {
      const verdict = await judge(path, cwd, [...(await readRules(options)), ...(await credentialFolders(options))]);
      return verdict.action === "ask" ? { ...verdict, action: "deny" } : verdict;
    },
  };
}

function spelledRule(asked: string, rules: readonly PathRule[]): PathRule | undefined {
  return rules.find((rule) => rule.rule === "device" && rule.matches(asked));
}

async function credentialFolders(options: PathGuardOptions): Promise<PathRule[]> {
  const folders = await realRoots(options.userHome, [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".config/gh",
  ]);
  return [below("credentials", "deny", "it lies in a credential folder", folders)];
}
