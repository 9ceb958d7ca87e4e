// GitHub API client: trees, folder listings and raw files. Every file is verified by its git hash.
import { createHash } from "node:crypto";
import { UserError } from "../../../core/failure.ts";
import { type Answer, ask, parseJsonBody } from "../download.ts";
import type { HubHost } from "../hub-host.ts";
import { HubRefusal, LIMITS, MIB } from "../refusal.ts";

export interface RepoRef {
  /** `owner/repo`. */
  readonly repo: string;
  /** Branch, tag or commit; the default branch when absent. */
  readonly ref?: string | undefined;
}

export interface TreeEntry {
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "special";
  readonly mode?: number | undefined;
  readonly size: number;
  /** Git's SHA-1 of the blob. */
  readonly sha: string;
}

export interface Tree {
  readonly repo: string;
  readonly ref: string;
  readonly sha: string;
  readonly entries: readonly TreeEntry[];
  /** True when the repository is too large for one listing. */
  readonly truncated: boolean;
}

const MODES: { readonly [mode: string]: Pick<TreeEntry, "kind" | "mode"> } = {
  "100644": { kind: "file", mode: 0o644 },
  "100664": { kind: "file", mode: 0o644 },
  "100755": { kind: "file", mode: 0o755 },
  "040000": { kind: "folder" },
  "120000": { kind: "link" },
};

type Raw = { readonly [key: string]: unknown };

function encoded(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

function entryFrom(value: unknown): TreeEntry[] {
  const { path, mode, type, size, sha } = (value ?? {}) as Raw;
  if (typeof path !== "string" || typeof sha !== "string") return [];
  const known = MODES[String(mode)] ?? (type === "tree" ? { kind: "folder" as const } : { kind: "special" as const });
  return [{ path, ...known, size: typeof size === "number" ? size : 0, sha }];
}

/** An entry of a folder listing, which has types instead of modes. */
function listedFrom(value: unknown): TreeEntry[] {
  const { path, type, size, sha } = (value ?? {}) as Raw;
  if (typeof path !== "string" || typeof sha !== "string") return [];
  const kind = type === "file" ? "file" : type === "dir" ? "folder" : type === "symlink" ? "link" : "special";
  return [{ path, kind, size: typeof size === "number" ? size : 0, sha }];
}

export class GitHubClient {
  readonly #host: HubHost;

  constructor(host: HubHost) {
    this.#host = host;
  }

  get #headers(): { [name: string]: string } {
    const { token } = this.#host.github;
    return {
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    };
  }

  async #api(path: string, what: string, json?: unknown): Promise<unknown> {
    const { api } = this.#host.github;
    const headers = { ...this.#headers, ...(json === undefined ? {} : { "content-type": "application/json" }) };
    const answer = await ask(this.#host.service, `${api}${path}`, { headers, maxBytes: 16 * MIB, json });
    if (answer.status >= 200 && answer.status < 300) return parseJsonBody(answer);
    throw this.#lastError(answer, what);
  }

  #lastError(answer: Answer, what: string): UserError {
    const limited = answer.status === 429 || (answer.status === 403 && answer.headers["x-ratelimit-remaining"] === "0");
    if (limited)
      return new UserError("GitHub's rate limit is reached", {
        hint: this.#host.github.token ? "Try again later." : "Set GITHUB_TOKEN for a higher limit, or try again later.",
      });
    if (answer.status === 404)
      return new UserError(`${what} is not on GitHub, or it is private`, {
        hint: "Check the spelling. Private repositories need GITHUB_TOKEN.",
      });
    if (answer.status === 403)
      return new UserError(`the token has no permission for this on ${what}`, {
        hint: "Give it the scope contents and pull requests: write.",
      });
    if (answer.status === 401)
      return new UserError("GitHub does not accept the token", { hint: "Check GITHUB_TOKEN." });
    return new UserError(`GitHub returned status ${answer.status} for ${what}`, { hint: "Try again later." });
  }

  async get(path: string, what: string): Promise<Raw> {
    return (await this.#api(path, what)) as Raw;
  }

  async post(path: string, json: unknown, what: string): Promise<Raw> {
    return (await this.#api(path, what, json)) as Raw;
  }

  async #defaultBranch(repo: string): Promise<string> {
    const { default_branch: branch } = (await this.#api(`/repos/${repo}`, repo)) as Raw;
    return typeof branch === "string" && branch !== "" ? branch : "main";
  }

  async tree({ repo, ref }: RepoRef): Promise<Tree> {
    const branch = ref ?? (await this.#defaultBranch(repo));
    const raw = (await this.#api(`/repos/${repo}/git/trees/${encodeURIComponent(branch)}?recursive=1`, repo)) as Raw;
    const entries = Array.isArray(raw.tree) ? raw.tree.flatMap(entryFrom) : [];
    return { repo, ref: branch, sha: String(raw.sha ?? ""), entries, truncated: raw.truncated === true };
  }

  /** Lists a folder recursively, for repositories whose tree is too large. */
  async below(tree: Tree, folder: string): Promise<TreeEntry[]> {
    const found: TreeEntry[] = [];
    const waiting = [folder];
    for (let asked = 0; waiting.length > 0; asked++) {
      if (asked >= 40 || found.length > LIMITS.files) throw new HubRefusal("refused: the folder has too many entries");
      const at = waiting.shift() ?? "";
      const path = `/repos/${tree.repo}/contents/${encoded(at)}?ref=${encodeURIComponent(tree.ref)}`;
      const listed = await this.#api(path, `${tree.repo}/${at}`);
      if (!Array.isArray(listed)) throw new UserError(`${tree.repo}/${at} is not a folder`);
      const entries = listed.flatMap(listedFrom);
      found.push(...entries.filter((entry) => entry.kind !== "folder"));
      waiting.push(...entries.filter((entry) => entry.kind === "folder").map((entry) => entry.path));
    }
    return found;
  }

  /** Fetches a file and verifies its git hash, which detects a moved branch or a tampered mirror. */
  async file(tree: Tree, entry: TreeEntry): Promise<Uint8Array> {
    if (entry.size > LIMITS.file)
      throw new HubRefusal(`refused: ${entry.path} has ${entry.size} bytes; at most ${LIMITS.file}`);
    const { raw, token } = this.#host.github;
    const url = `${raw}/${tree.repo}/${encoded(tree.ref)}/${encoded(entry.path)}`;
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    const answer = await ask(this.#host.service, url, { headers });
    if (answer.status !== 200) throw this.#lastError(answer, `${tree.repo}/${entry.path}`);
    const hash = createHash("sha1").update(`blob ${answer.body.length}\0`).update(answer.body).digest("hex");
    if (hash !== entry.sha)
      throw new HubRefusal(
        `refused: ${entry.path} does not match the hash that the repository lists`,
        "Try again in a minute.",
      );
    return answer.body;
  }
}
