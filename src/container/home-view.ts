// What commands see of the user's home: ordinary folders and tool chains read-only, private folders for caches, no secrets.
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

/** Entries with a leading dot that hold programs or settings without secrets. Everything else with a dot is hidden. */
const VISIBLE: readonly string[] = [
  ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc"],
  ...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".tmux.conf", ".screenrc", ".vimrc", ".vim", ".exrc", ".nanorc"],
  ...[
    ".gitconfig",
    ".gitignore",
    ".gitignore_global",
    ".config/git/config",
    ".config/git/ignore",
    ".config/git/attributes",
  ],
  ...[".config/nvim", ".config/fish/config.fish", ".config/starship.toml", ".editorconfig", ".emacs", ".emacs.d"],
  ...[".local/bin", ".local/lib", ".nvm", ".volta", ".pyenv", ".rbenv", ".rustup", ".sdkman", ".jenv", ".nodenv"],
  ...[".cargo/bin", ".cargo/env", ".bun/bin", ".deno/bin", ".fnm", ".asdf", ".goenv", ".ghcup/bin", ".juliaup"],
  ...[".local/share/mise/installs", ".local/share/mise/shims", ".local/share/uv/python", ".local/share/uv/tools"],
  ...[".local/share/fnm", ".local/share/pnpm", ".local/share/pipx", ".local/share/virtualenvs", ".local/share/rtx"],
  ...[".tool-versions", ".nvmrc", ".python-version", ".condarc", ".linuxbrew", ".opam", ".npm-global"],
  ...[".ssh/known_hosts", ".ssh/config"],
];
/** Visible entries with programs only. */
const TOOL_CHAINS = VISIBLE.filter((name) =>
  /^\.(?:local\/(?:bin|lib|share\/(?:mise|uv|fnm|rtx))|nvm|volta|pyenv|rbenv|rustup|sdkman|asdf|cargo\/bin|bun\/bin|deno\/bin|fnm|goenv|juliaup)/.test(
    name,
  ),
);
/** Private like the others, but mounted, because they also hold visible folders. */
export const MOUNTED_CACHES: readonly string[] = [".cache", ".local/share", ".local/state"];
/** Folders of programs for caches and data. Commands get private ones, so that they cannot change what you use yourself. */
const PRIVATE: readonly string[] = [
  ...[".npm", ".yarn", ".pnpm-store", ".bun/install", ".cargo/registry", ".cargo/git", "go/pkg", ".gradle"],
  ...[".m2/repository", ".ivy2", ".sbt", ".nuget", ".gem", ".cpan", ".node-gyp"],
  ...[".docker/buildx", ".terraform.d/plugin-cache", ".dart-tool", ".pub-cache", ".composer", ".julia", ".conda/pkgs"],
];

export interface HomeView {
  readonly visible: readonly string[];
  /** Of these, the tool chains and the folders of PATH. */
  readonly programs: readonly string[];
  /** Folders whose content is private to the container, relative to the home. */
  readonly caches: readonly string[];
}

/** Each visible entry is a mount, so a crowded home shows its folders only, and not more than this. */
const MAX_ENTRIES = 60;

/** The entries without a leading dot. */
function ordinaryEntries(home: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(home, { withFileTypes: true }).filter(({ name }) => !name.startsWith("."));
  } catch {
    // A home that cannot be listed shows nothing.
    return [];
  }
  const shown = entries.length > MAX_ENTRIES ? entries.filter((entry) => entry.isDirectory()) : entries;
  return shown.slice(0, MAX_ENTRIES).map(({ name }) => name);
}

/** `path`: PATH, whose folders inside the home stay visible. */
export function viewHome(home: string, path: readonly string[]): HomeView {
  const ordinary = ordinaryEntries(home);
  const programs = path.filter((folder) => folder.startsWith(`${home}/`));
  return {
    visible: [...ordinary.map((name) => join(home, name)), ...VISIBLE.map((name) => join(home, name)), ...programs],
    programs: [...TOOL_CHAINS.map((name) => join(home, name)), ...programs],
    caches: PRIVATE,
  };
}

/** The entries of a home that is the workspace itself: everything with a dot is read-only at most. */
export function writableInHome(home: string): string[] {
  return ordinaryEntries(home).map((name) => join(home, name));
}
