// Vital, protected and credential paths, and how a path word is matched with them.
import { join } from "node:path";
import { type ShellEnvironment, UNKNOWN } from "../shell/shell-types.ts";
import { absolutePath } from "../shell/shell-walk.ts";

const VITAL = [
  "home",
  "root",
  "etc",
  "usr",
  "var",
  "bin",
  "sbin",
  "boot",
  "lib",
  "lib64",
  "opt",
  "dev",
  "proc",
  "sys",
  "Users",
  "System",
  "Library",
  "Applications",
  "private",
  "Volumes",
];

const DISK = /^\/dev\/(?:sd[a-z]|nvme\d|hd[a-z]|mmcblk\d|vd[a-z]|xvd[a-z]|disk\d|rdisk\d|mapper\/|md\d|dm-\d)/;

export function isDisk(path: string): boolean {
  return DISK.test(path);
}

/** A glob that matches everything in its folder. */
const EVERYTHING = /\/(?:\*+|\.\*|\.\[!\.\]\*|\.\?\*|\*\.\*|\{\*,\.\*\})$/;

function globMatches(pattern: string, name: string): boolean {
  if (!/[*?[]/.test(pattern) || pattern.length > 64) return pattern === name;
  const source = pattern
    .replace(/[.+^${}()|\\]/g, "\\$&")
    .replace(/\*+/g, ".*")
    .replace(/\?/g, ".")
    .replace(/\[!/g, "[^");
  try {
    return new RegExp(`^${source}$`).test(name);
  } catch {
    // Not a valid pattern: compare it literally.
    return pattern === name;
  }
}

/** Second-level folders that the system needs. */
const VITAL_INSIDE =
  /^\/(?:usr\/(?:s?bin|lib\w*|share|local|include)|etc\/(?:ssh|ssl|pam\.d|systemd|apt|sudoers\.d|default|init\.d)|var\/(?:lib|log|spool|mail|db)|lib\/modules|boot\/\w+|Library\/\w+|System\/\w+)$/;

/** True for a glob without literal characters: it matches nearly every name. */
function matchesMost(name: string): boolean {
  return /[*?]/.test(name) && name.replace(/\[[^\]]*\]|[*?.!]/g, "") === "";
}

/** True for the root, a top-level system folder, the user's home, and globs for everything inside one of them. */
export function isVital(word: string, cwd: string, host: ShellEnvironment): boolean {
  if (word.startsWith(UNKNOWN)) return false;
  let path = absolutePath(word === "" ? "." : word, cwd, host).replace(/(?<=.)\/+$/, "");
  while (EVERYTHING.test(path) || matchesMost(path.slice(path.lastIndexOf("/") + 1)))
    path = path.slice(0, path.lastIndexOf("/")) || "/";
  path = path.replace(/\/+$/, "") || "/";
  if (path === "/" || path === host.userHome || VITAL_INSIDE.test(path)) return true;
  const parts = path.split("/").slice(1);
  const [first = ""] = parts;
  const homes = [join("/home", "x"), host.userHome].some((home) => home.split("/").length - 1 === parts.length);
  if (parts.length === 1) return VITAL.some((name) => globMatches(first, name));
  // `/home/*` was reduced to `/home` above; `/ho*/me` can still match a home.
  return homes && /[*?[]/.test(path) && globMatches(path, host.userHome);
}

const SYSTEM = [
  "/etc",
  "/private/etc",
  "/boot",
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib64",
  "/System",
  "/Library",
  "/var/spool/cron",
];

export function isSystemPath(path: string): boolean {
  if (path.startsWith("/usr/local/") && !/^\/usr\/local\/s?bin\//.test(path)) return false;
  return SYSTEM.some((root) => path === root || path.startsWith(`${root}/`));
}

const STARTUP =
  /^\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|netrc|pgpass|npmrc|pypirc|git-credentials|gitconfig|config\/(?:fish|autostart|systemd|gh|git)(?:\/|$)|ssh(?:\/|$)|aws(?:\/|$)|gnupg(?:\/|$)|kube(?:\/|$)|docker\/|azure(?:\/|$)|local\/share\/systemd|local\/bin\/|vimrc$|vim\/(?:vimrc|plugin|autoload)|gvimrc$|exrc$|inputrc$|xprofile$|xinitrc$|xsession|pam_environment$|config\/(?:environment\.d|nvim)(?:\/|$)|tmux\.conf$|emacs|pythonrc|gdbinit$|lldbinit$|psqlrc$|sqliterc$)|^bin\/|^Library\/Launch(?:Agents|Daemons)/;

/** True for start-up files, credentials and Hermes' own files: changing them needs approval. */
export function isGuardedFile(path: string, host: ShellEnvironment): boolean {
  const own = relativePath(host.hermesHome, path);
  if (own !== null)
    return (
      /^(?:config\.yaml|\.env|auth\.json|state\.db|runtime\.db|skills|hooks|plugins|scripts|bin|cron|shell-hooks|profiles)/.test(
        own,
      ) || own === ""
    );
  if (/\/\.git\/(?:hooks\/.|config$|config\.worktree$)/.test(path)) return true;
  const home = relativePath(host.userHome, path);
  return home !== null && STARTUP.test(home);
}

const CREDENTIALS =
  /^\.(?:ssh\/(?:id_[^/.]*|identity|.*_(?:rsa|ed25519|ecdsa|dsa)|.*\.pem)$|ssh\/?$|ssh\/\*|netrc$|pgpass$|git-credentials$|aws\/credentials|aws\/?$|gnupg|kube\/config$|docker\/config\.json$|config\/gh\/hosts\.yml|azure\/|npmrc$|pypirc$|config\/gcloud)/;

/** True for files that contain keys or passwords. */
export function isCredentialFile(path: string, host: ShellEnvironment): boolean {
  if (/^\/etc\/(?:shadow|gshadow|sudoers)/.test(path) || /^\/proc\/[^/]+\/environ$/.test(path)) return true;
  const own = relativePath(host.hermesHome, path);
  if (own !== null) return /^(?:\.env|auth\.json|mcp-tokens)/.test(own);
  const home = relativePath(host.userHome, path);
  return home !== null && CREDENTIALS.test(home);
}

function relativePath(root: string, path: string): string | null {
  const folded = path.toLowerCase();
  const base = root.toLowerCase();
  if (folded === base) return "";
  return folded.startsWith(`${base}/`) ? path.slice(root.length + 1) : null;
}

/** True for temporary files, which may be deleted. */
export function isScratch(path: string): boolean {
  return /^\/(?:private\/)?(?:tmp|var\/tmp|var\/folders)\/./.test(path) || path === "/dev/null";
}

/** True for a path outside the workspace that is not temporary. */
export function isOutside(path: string, host: ShellEnvironment): boolean {
  const folder = (host.workspace ?? host.cwd).replace(/\/$/, "");
  return path !== folder && !path.startsWith(`${folder}/`) && !path.startsWith(UNKNOWN) && !isScratch(path);
}
