// Which places hold secrets, start-up files and Hermes' own data. Used by the path guard and by the shell rules.
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { comparable, isBelow } from "./real-path.ts";

export interface PlaceOptions {
  readonly hermesHome: string;
  readonly userHome: string;
}

export interface Places {
  /** The person's home, as given and with links resolved. */
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
      // It does not exist (yet): only the given spelling counts.
    }
  }
  return [...all];
}

/** A profile's home lies in `ROOT/profiles/NAME`: then the root belongs to Hermes too. */
export function placesOf({ hermesHome, userHome }: PlaceOptions): Places {
  const root = basename(dirname(hermesHome)) === "profiles" ? [dirname(dirname(hermesHome))] : [];
  const usual = join(userHome, ".hermes");
  return { userHomes: withReal([userHome]), hermesHomes: withReal([hermesHome, ...root, usual]) };
}

/** The path relative to the first root that contains it, with "/" between the parts; null when outside all. */
export function within(roots: readonly string[], path: string): string | null {
  for (const root of roots) {
    if (!isBelow(root, path)) continue;
    const rest = comparable(path).slice(comparable(root).length);
    return rest.replace(/^[\\/]+/, "").replaceAll("\\", "/");
  }
  return null;
}

/** Folders in the person's home whose whole content is secret. */
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
/** Files in such folders that hold no secret. */
const OPEN_IN_SECRET = /^\.ssh\/(?:[^/]+\.pub|known_hosts[^/]*|config|authorized_keys[^/]*)$|^\.aws\/config$/;
const SECRET_FILES =
  /^(?:[._]netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.npmrc|\.pypirc|\.vault-token|\.config\/git\/credentials|\.kube\/config|\.docker\/config\.json|\.config\/gh\/hosts\.yml|\.config\/rclone\/rclone\.conf|\.config\/hub|\.cargo\/credentials(?:\.toml)?|\.terraform\.d\/credentials\.tfrc\.json|\.m2\/settings\.xml|\.gem\/credentials|\.mozilla\/.*(?:logins\.json|key4\.db|cookies\.sqlite)|\.config\/(?:google-chrome|chromium|bravesoftware)\/.*\/(?:login data|cookies))$/;
const SECRET_IN_HERMES =
  /^(?:profiles\/[^/]+\/)?(?:\.env(?:\.[^/]*)?|auth\.json[^/]*|\.?[^/]*(?:oauth|token|credential)s?[^/]*\.json|webhook_subscriptions\.json|(?:mcp-tokens|pairing|platforms|credentials|whatsapp|auth)(?:\/.*)?)$/;
const SECRET_SYSTEM =
  /^(?:\/private)?\/etc\/(?:g?shadow-?|sudoers(?:\.d\/.*)?)$|^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem)$/;
/** The usual names of private keys, wherever they lie. */
const KEY_NAME = /(?:^|\/)id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/;

export interface SecretPlace {
  readonly rule: "hermes_secrets" | "credentials" | "shadow";
  readonly reason: string;
  /** It is a folder that holds secrets, not one of the files. */
  readonly folder: boolean;
}

/** Why the content of this path is secret; null when it is not. Judges the real path that it is given. */
export function secretPlace(path: string, places: Places): SecretPlace | null {
  const folded = comparable(path).replaceAll("\\", "/");
  if (SECRET_SYSTEM.test(folded)) return { rule: "shadow", reason: "it holds passwords or keys", folder: false };
  const own = within(places.hermesHomes, path);
  if (own !== null && SECRET_IN_HERMES.test(own))
    return { rule: "hermes_secrets", reason: "it holds the keys of Hermes", folder: !/\.[^/]*$/.test(own) };
  const home = within(places.userHomes, path);
  const credentials = { rule: "credentials", reason: "it holds credentials", folder: false } as const;
  if (home !== null) {
    const folder = SECRET_FOLDERS.find((name) => home === name || home.startsWith(`${name}/`));
    if (folder !== undefined && !OPEN_IN_SECRET.test(home)) return { ...credentials, folder: home === folder };
    if (SECRET_FILES.test(home)) return credentials;
  }
  return KEY_NAME.test(folded) ? { ...credentials, reason: "it is a private key" } : null;
}

/** The single files that a hard link could give a second name. */
export function secretFiles(places: Places): string[] {
  const names = [
    ...["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "identity"].map((name) => `.ssh/${name}`),
    ...[".aws/credentials", ".netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc", ".kube/config"],
    ...[".docker/config.json", ".config/gh/hosts.yml", ".my.cnf", ".vault-token"],
  ];
  const own = [".env", "auth.json", "webhook_subscriptions.json"];
  return [
    ...places.userHomes.flatMap((home) => names.map((name) => join(home, name))),
    ...places.hermesHomes.flatMap((home) => own.map((name) => join(home, name))),
  ];
}

/** Shells, sessions and programs read these when they start. */
const STARTUP_FILES =
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zlogin|zlogout|zprofile|gitconfig|config\/fish\/config\.fish)$|^(?:\.config\/(?:autostart|systemd|gh)|\.kube|\.docker|library\/launch(?:agents|daemons))(?:\/|$)/;
/** The same kind of place, but also where people keep their own scripts and settings. */
const STARTUP_MORE =
  /^\.(?:bash_aliases|inputrc|xprofile|xinitrc|xsession(?:rc)?|xsessionrc|pam_environment|vimrc|gvimrc|exrc|emacs|tmux\.conf|screenrc|gdbinit|lldbinit|curlrc|wgetrc|condarc|mailcap|yarnrc(?:\.yml)?|envrc|login|cshrc|tcshrc|kshrc)$|^(?:\.config\/(?:git|fish|environment\.d|pip|nvim|zsh|plasma-workspace)|\.vim|\.emacs\.d|\.zsh|\.oh-my-zsh|\.local\/(?:bin|share\/(?:systemd|applications|dbus-1))|bin|\.cargo\/(?:bin|config\.toml)|\.bashrc\.d|\.profile\.d)(?:\/|$)/;

/** `file`: a start-up file or folder; `own`: one in which people also keep their own things; null for others. */
export function startupPlace(path: string, places: Places): "file" | "own" | null {
  const home = within(places.userHomes, path);
  if (home === null) return null;
  if (STARTUP_FILES.test(home)) return "file";
  return STARTUP_MORE.test(home) ? "own" : null;
}

/** Working folders below a home that tools may write to. */
const WORK_FOLDERS = /^(?:profiles\/[^/]+\/)?(?:workspace|workspaces|scratch)\/./;
/** Hermes runs or loads what lies there; a person may approve a change. */
const TRUSTED_FOLDERS = /^(?:profiles\/[^/]+\/)?(?:skills|hooks|plugins|scripts|bin|cron|platforms|mcp-tokens)(?:\/|$)/;
/** Folders of a home that belong to Hermes, so that no workspace can be made of them. */
const OWN_FOLDERS =
  /^(?:profiles|sessions|memories|skills|cron|hooks|logs|cache|plugins|scripts|bin|platforms|mcp-tokens|context|checkpoints|sandboxes|pairing)\//;

export type HomeWrite = "trusted" | "own" | null;

/**
 * What writing to this path would change of Hermes' homes: null for nothing. A workspace inside a home is the
 * person's, unless it is one of Hermes' own folders.
 */
export function homeWrite(path: string, places: Places, workspace?: string): HomeWrite {
  const own = within(places.hermesHomes, path);
  if (own === null || WORK_FOLDERS.test(own)) return null;
  if (workspace !== undefined && isBelow(workspace, path)) {
    const work = within(places.hermesHomes, workspace);
    if (work !== null && work !== "" && !OWN_FOLDERS.test(`${work}/`)) return null;
  }
  return TRUSTED_FOLDERS.test(own) ? "trusted" : "own";
}
