// Paths of secrets, start-up files and Hermes' own data. Used by the path guard and the shell rules.
import { readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isBelow, normalizePath } from "./real-path.ts";

export interface ProtectedPathOptions {
  readonly hermesHome: string;
  readonly userHome: string;
}

export interface ProtectedRoots {
  /** The user's home, as given and with links resolved. */
  readonly userHomes: readonly string[];
  /** Hermes' homes: the active one, the root with all profiles, and the default one. */
  readonly hermesHomes: readonly string[];
}

function withReal(paths: readonly string[]): string[] {
  const all = new Set<string>();
  for (const path of paths) {
    all.add(path);
    try {
      all.add(realpathSync(path));
    } catch {
      // It does not exist (yet): use the path as given.
    }
  }
  return [...all];
}

/** The user's home and Hermes' homes. For the home of a profile, `ROOT/profiles/NAME`, the root is included. */
export function findProtectedRoots({ hermesHome, userHome }: ProtectedPathOptions): ProtectedRoots {
  const root = basename(dirname(hermesHome)) === "profiles" ? [dirname(dirname(hermesHome))] : [];
  const usual = join(userHome, ".hermes");
  return { userHomes: withReal([userHome]), hermesHomes: withReal([hermesHome, ...root, usual]) };
}

/** The path relative to the first root that contains it, with "/" between the parts; null when outside all. */
export function relativeTo(roots: readonly string[], path: string): string | null {
  for (const root of roots) {
    if (!isBelow(root, path)) continue;
    const rest = normalizePath(path).slice(normalizePath(root).length);
    return rest.replace(/^[\\/]+/, "").replaceAll("\\", "/");
  }
  return null;
}

/** Folders in the user's home whose whole content is secret. */
const SECRET_FOLDERS = [
  ".ssh",
  ".aws",
  ".gnupg",
  ".azure",
  ".password-store",
  ".config/gcloud",
  ".config/op",
  ".local/share/keyrings",
  "library/keychains",
];
/** Files in such folders that contain no secret. */
const OPEN_IN_SECRET = /^\.ssh\/(?:[^/]+\.pub|known_hosts[^/]*|config|authorized_keys[^/]*)$|^\.aws\/config$/;
const SECRET_FILES =
  /^(?:[._]netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.npmrc|\.pypirc|\.vault-token|\.config\/git\/credentials|\.kube\/config|\.docker\/config\.json|\.config\/gh\/hosts\.yml|\.config\/rclone\/rclone\.conf|\.config\/hub|\.cargo\/credentials(?:\.toml)?|\.terraform\.d\/credentials\.tfrc\.json|\.m2\/settings\.xml|\.gem\/credentials|\.mozilla\/.*(?:logins\.json|key4\.db|cookies\.sqlite)|\.config\/(?:google-chrome|chromium|bravesoftware)\/.*\/(?:login data|cookies))$/;
const SECRET_IN_HERMES =
  /^(?:profiles\/[^/]+\/)?(?:\.env(?:\.[^/]*)?|auth\.json[^/]*|\.?[^/]*(?:oauth|token|credential)s?[^/]*\.json|webhook_subscriptions\.json|(?:mcp-tokens|pairing|platforms|credentials|whatsapp|auth)(?:\/.*)?)$/;
const SECRET_SYSTEM =
  /^(?:\/private)?\/etc\/(?:g?shadow-?|sudoers(?:\.d\/.*)?)$|^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem)$/;
/** The usual names of private keys, in any folder. */
const KEY_NAME = /(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/;

export interface SecretPath {
  readonly rule: "hermes_secrets" | "credentials" | "shadow";
  readonly reason: string;
  /** True for a folder with secrets, false for one of its files. */
  readonly folder: boolean;
}

/** Why the content of this path is secret; null when it is not. Expects a real path. */
export function classifySecretPath(path: string, places: ProtectedRoots): SecretPath | null {
  const folded = normalizePath(path).replaceAll("\\", "/");
  if (SECRET_SYSTEM.test(folded)) return { rule: "shadow", reason: "it contains passwords or keys", folder: false };
  const own = relativeTo(places.hermesHomes, path);
  if (own !== null && SECRET_IN_HERMES.test(own))
    return { rule: "hermes_secrets", reason: "it contains the keys of Hermes", folder: !/\.[^/]*$/.test(own) };
  const home = relativeTo(places.userHomes, path);
  const credentials = { rule: "credentials", reason: "it contains credentials", folder: false } as const;
  if (home !== null) {
    const folder = SECRET_FOLDERS.find((name) => home === name || home.startsWith(`${name}/`));
    if (folder !== undefined && !OPEN_IN_SECRET.test(home)) return { ...credentials, folder: home === folder };
    if (SECRET_FILES.test(home)) return credentials;
  }
  return KEY_NAME.test(folded) ? { ...credentials, reason: "it is a private key" } : null;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    // The folder does not exist: nothing to protect.
    return [];
  }
}

/** The secret files that are compared to find hard links. */
export function secretFiles(places: ProtectedRoots): string[] {
  const names = [
    ...["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "identity"].map((name) => `.ssh/${name}`),
    ...[".aws/credentials", ".netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc", ".kube/config"],
    ...[".docker/config.json", ".config/gh/hosts.yml", ".my.cnf", ".vault-token"],
  ];
  const own = [".env", "auth.json", "webhook_subscriptions.json"];
  const all = [
    ...places.userHomes.flatMap((home) => names.map((name) => join(home, name))),
    ...places.userHomes.flatMap((home) => [".ssh", ".aws"].flatMap((name) => namesIn(join(home, name)))),
    ...places.hermesHomes.flatMap((home) => own.map((name) => join(home, name))),
    ...places.hermesHomes.flatMap((home) => namesIn(join(home, "mcp-tokens"))),
  ];
  return all.filter((path) => classifySecretPath(path, places) !== null);
}

/** Files that shells, sessions and programs read when they start. */
const STARTUP_FILES =
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zlogin|zlogout|zprofile|gitconfig|config\/fish\/config\.fish)$|^(?:\.ssh|\.aws|\.gnupg|\.config\/(?:autostart|systemd|gh)|\.kube|\.docker|library\/launch(?:agents|daemons))(?:\/|$)/;
/** Start-up paths in which users also keep their own scripts and settings. */
const STARTUP_MORE =
  /^\.(?:bash_aliases|inputrc|xprofile|xinitrc|xsession(?:rc)?|xsessionrc|pam_environment|vimrc|gvimrc|exrc|emacs|tmux\.conf|screenrc|gdbinit|lldbinit|curlrc|wgetrc|condarc|mailcap|yarnrc(?:\.yml)?|envrc|login|cshrc|tcshrc|kshrc)$|^(?:\.config\/(?:git|fish|environment\.d|pip|nvim|zsh|plasma-workspace)|\.vim|\.emacs\.d|\.zsh|\.oh-my-zsh|\.local\/(?:bin|share\/(?:systemd|applications|dbus-1))|bin|\.cargo\/(?:bin|config\.toml)|\.bashrc\.d|\.profile\.d)(?:\/|$)/;

/** `file`: a start-up file or folder; `own`: one in which users also keep their own files; null for others. */
export function classifyStartupPath(path: string, places: ProtectedRoots): "file" | "own" | null {
  const home = relativeTo(places.userHomes, path);
  if (home === null) return null;
  if (STARTUP_FILES.test(home)) return "file";
  return STARTUP_MORE.test(home) ? "own" : null;
}

/** Working folders below a home that tools may write to. */
const WORK_FOLDERS = /^(?:profiles\/[^/]+\/)?(?:workspace|workspaces|scratch)\/./;
/** Folders whose files Hermes runs or loads; the user may approve a change. */
const TRUSTED_FOLDERS = /^(?:profiles\/[^/]+\/)?(?:skills|hooks|plugins|scripts|bin|cron|platforms|mcp-tokens)(?:\/|$)/;
/** Folders of a home that belong to Hermes and cannot be a workspace. */
const OWN_FOLDERS =
  /^(?:profiles|sessions|memories|skills|cron|hooks|logs|cache|plugins|scripts|bin|platforms|mcp-tokens|context|checkpoints|sandboxes|pairing)\//;

export type HomeWrite = "trusted" | "own" | null;

/**
 * Whether writing to this path changes Hermes' homes; null when it does not. A workspace inside a home belongs to the
 * user, unless it is one of Hermes' own folders.
 */
export function classifyHomeWrite(path: string, places: ProtectedRoots, workspace?: string): HomeWrite {
  const own = relativeTo(places.hermesHomes, path);
  if (own === null || WORK_FOLDERS.test(own)) return null;
  if (workspace !== undefined && isBelow(workspace, path)) {
    const work = relativeTo(places.hermesHomes, workspace);
    if (work !== null && work !== "" && !OWN_FOLDERS.test(`${work}/`)) return null;
  }
  return TRUSTED_FOLDERS.test(own) ? "trusted" : "own";
}
