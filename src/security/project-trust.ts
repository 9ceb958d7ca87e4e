// Decides whether a project is the user's own: it has no remote, its remote is the user's, or the user has pushed to it.
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isVendored, type ProjectDecision, type ProjectDecisions, type ProjectTrust } from "../core/project-trust.ts";

const MAX_FOLDERS = 500;
const MAX_LOG_BYTES = 4_000_000;

export interface ProjectTrustOptions {
  readonly userHome: string;
  /** `security.trusted_remotes`: `github.com/acme`, `git.acme.test`. */
  readonly trustedRemotes: readonly string[];
  readonly decisions: ProjectDecisions;
}

export interface Repository {
  readonly folder: string;
  /** The folder with configuration and logs, which worktrees share. */
  readonly gitDir: string;
}

async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

/** The folder of `.git`, also when `.git` is a file that points elsewhere, as in worktrees and submodules. */
async function gitFolder(folder: string): Promise<string | undefined> {
  const path = join(folder, ".git");
  const info = await stat(path).catch(() => null);
  if (info?.isDirectory()) return path;
  if (!info?.isFile()) return undefined;
  const target = /^gitdir:\s*(.+)$/m.exec(await readText(path))?.[1]?.trim();
  if (target === undefined) return undefined;
  const dir = resolve(folder, target);
  const common = (await readText(join(dir, "commondir"))).trim();
  return common === "" ? dir : resolve(dir, common);
}

/** The repository that contains a file or folder. */
export async function findRepository(path: string): Promise<Repository | undefined> {
  for (let folder = path; ; folder = dirname(folder)) {
    const gitDir = await gitFolder(folder);
    if (gitDir !== undefined) return { folder, gitDir };
    if (dirname(folder) === folder) return undefined;
  }
}

function remoteUrls(config: string): string[] {
  const urls: string[] = [];
  let inRemote = false;
  for (const line of config.split("\n")) {
    const section = /^\s*\[([^\]]*)\]/.exec(line);
    if (section) inRemote = /^remote\s/.test(section[1] ?? "");
    const url = inRemote ? /^\s*url\s*=\s*(\S.*?)\s*$/.exec(line)?.[1] : undefined;
    if (url !== undefined) urls.push(url);
  }
  return urls;
}

/** `https://user@github.com/acme/app.git` and `git@github.com:acme/app` both give `github.com/acme/app`. */
export function normalRemote(url: string): string {
  return url
    .replace(/^[a-z+]+:\/\//i, "")
    .replace(/^[^@/]*@/, "")
    .replace(/^([^/:]+):(?!\d+\/)/, "$1/")
    .replace(/\.git\/?$/, "")
    .replace(/\/+$/, "")
    .toLowerCase();
}

function isLocalPath(url: string): boolean {
  return /^(?:file:\/\/|\.{0,2}\/|~)/.test(url) || (isAbsolute(url) && !url.includes("@"));
}

/** The user's names on hosting services, from git's configuration. */
async function userNames(userHome: string): Promise<string[]> {
  const texts = await Promise.all([
    readText(join(userHome, ".gitconfig")),
    readText(join(userHome, ".config/git/config")),
  ]);
  const config = texts.join("\n");
  const names: string[] = [];
  let section = "";
  for (const line of config.split("\n")) {
    section = /^\s*\[([^\]"\s]*)/.exec(line)?.[1]?.toLowerCase() ?? section;
    const user = /^(?:github|gitlab|codeberg)$/.test(section)
      ? /^\s*user\s*=\s*"?([\w.-]+)/.exec(line)?.[1]
      : undefined;
    if (user !== undefined) names.push(user.toLowerCase());
  }
  return names;
}

/** A push that succeeded: the user may write to the remote. */
async function hasPushed(gitDir: string): Promise<boolean> {
  const root = join(gitDir, "logs", "refs", "remotes");
  const names = await readdir(root, { recursive: true }).catch(() => [] as string[]);
  for (const name of names.slice(0, MAX_FOLDERS)) {
    const path = join(root, name);
    const info = await stat(path).catch(() => null);
    if (!info?.isFile() || info.size > MAX_LOG_BYTES) continue;
    if (/\tupdate by push$/m.test(await readText(path))) return true;
  }
  return false;
}

async function decide(repository: Repository, remotes: readonly string[], options: ProjectTrustOptions) {
  const trusted = options.trustedRemotes.map((entry) => normalRemote(entry)).filter((entry) => entry !== "");
  const names = await userNames(options.userHome);
  const isOwn = (remote: string) =>
    trusted.some((entry) => remote === entry || remote.startsWith(`${entry}/`)) ||
    names.includes(remote.split("/")[1] ?? "");
  return remotes.every(isOwn) || (await hasPushed(repository.gitDir));
}

class GitProjectTrust implements ProjectTrust {
  readonly #options: ProjectTrustOptions;
  /** By folder; a process sees few projects. */
  readonly #known = new Map<string, Promise<string | undefined>>();

  constructor(options: ProjectTrustOptions) {
    this.#options = options;
  }

  async foreignOrigin(given: string): Promise<string | undefined> {
    const path = await realpath(given).catch(() => resolve(given));
    const repository = await findRepository(path);
    const inside = repository ? path.slice(repository.folder.length) : path;
    if (repository && isVendored(inside)) return `${path}, a file of a dependency`;
    if (!repository) return isVendored(path) ? `${path}, a file of a dependency` : undefined;
    if (this.#known.size >= MAX_FOLDERS) this.#known.clear();
    const known = this.#known.get(repository.folder) ?? this.#judge(repository);
    this.#known.set(repository.folder, known);
    return known;
  }

  async #judge(repository: Repository): Promise<string | undefined> {
    const urls = remoteUrls(await readText(join(repository.gitDir, "config"))).filter((url) => !isLocalPath(url));
    if (urls.length === 0) return undefined;
    const remotes = [...new Set(urls.map(normalRemote))].sort();
    const key = remotes.join(" ");
    const { decisions } = this.#options;
    // The first decision stays: later a command of the agent could have changed what it is based on.
    let decision: ProjectDecision | undefined = await decisions.find(repository.folder, key);
    if (!decision) {
      decision = { trusted: await decide(repository, remotes, this.#options), decidedBy: "first sight" };
      await decisions.record(repository.folder, key, decision);
    }
    return decision.trusted ? undefined : `the project ${repository.folder}, cloned from ${remotes[0] ?? "elsewhere"}`;
  }
}

export function createProjectTrust(options: ProjectTrustOptions): ProjectTrust {
  return new GitProjectTrust(options);
}

/** For the user's own decision: the project's folder and its remotes as they are stored. */
export async function identifyProject(path: string): Promise<{ folder: string; remote: string } | undefined> {
  const repository = await findRepository(await realpath(path).catch(() => resolve(path)));
  if (!repository) return undefined;
  const urls = remoteUrls(await readText(join(repository.gitDir, "config"))).filter((url) => !isLocalPath(url));
  return { folder: repository.folder, remote: [...new Set(urls.map(normalRemote))].sort().join(" ") };
}
