// The sources of skills on loopback: GitHub's API and raw files, skills.sh, sites, plain downloads.
import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface RepoFile {
  readonly content: string;
  /** Git's mode; `100644` when absent, `120000` is a link. */
  readonly mode?: string;
  /** What the raw address serves instead: a malicious mirror. */
  readonly served?: string;
}

export interface FakeRepo {
  readonly files: { readonly [path: string]: string | RepoFile };
  readonly branch?: string;
  /** The tree does not fit into one answer. */
  readonly truncated?: boolean;
  /** The token may push. */
  readonly mine?: boolean;
}

export interface HubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly body: string | Uint8Array;
  readonly headers?: { readonly [name: string]: string };
}

const json = (value: unknown, status = 200): Answer => ({
  status,
  body: JSON.stringify(value),
  headers: { "content-type": "application/json" },
});
const notFound = json({ message: "Not Found", documentation_url: "https://docs.github.com/rest" }, 404);

function blobSha(content: string): string {
  const bytes = Buffer.from(content);
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

const findFile = (file: string | RepoFile): RepoFile => (typeof file === "string" ? { content: file } : file);

export class FakeHub {
  readonly repos = new Map<string, FakeRepo>();
  /** Paths on the site, for example `/.well-known/skills/index.json` or `/skill.zip`. */
  readonly site = new Map<string, string | Uint8Array>();
  /** Rows of the skills.sh directory. */
  readonly directory: { id: string; skillId: string; name: string; installs: number; source: string }[] = [];
  readonly requests: HubRequest[] = [];
  /** Redirects on the site: path → address. */
  readonly redirects = new Map<string, string>();
  rateLimited = false;
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  url = "";

  static async open(): Promise<FakeHub> {
    const hub = new FakeHub();
    await new Promise<void>((resolve) => hub.#server.listen(0, "127.0.0.1", resolve));
    hub.url = `http://127.0.0.1:${(hub.#server.address() as AddressInfo).port}`;
    return hub;
  }

  /** What a home's environment says to reach the services here; sites stay private addresses. */
  get env(): { [name: string]: string } {
    return {
      HERMES_GITHUB_API_URL: `${this.url}/api`,
      HERMES_GITHUB_RAW_URL: `${this.url}/raw`,
      HERMES_SKILLS_SH_URL: `${this.url}/skills-sh`,
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk as string;
    const url = new URL(request.url ?? "/", this.url);
    const path = decodeURIComponent(url.pathname);
    this.requests.push({ method: request.method ?? "GET", path, headers: request.headers, body });
    const answer = this.#route(request.method ?? "GET", path, url.searchParams, body);
    response.writeHead(answer.status, answer.headers ?? {});
    response.end(answer.body);
  }

  #route(method: string, path: string, query: URLSearchParams, body: string): Answer {
    if (path.startsWith("/api/")) return method === "POST" ? this.#post(path.slice(4), body) : this.#api(path.slice(4));
    if (path.startsWith("/raw/")) return this.#raw(path.slice(5));
    if (path === "/skills-sh/api/search") return this.#search(query);
    const away = this.redirects.get(path);
    if (away) return { status: 302, body: "", headers: { location: away } };
    const content = this.site.get(path);
    return content === undefined ? { status: 404, body: "not found" } : { status: 200, body: content };
  }

  #search(query: URLSearchParams): Answer {
    const q = (query.get("q") ?? "").toLowerCase();
    const skills = this.directory.filter((row) => row.name.includes(q)).slice(0, Number(query.get("limit") ?? 10));
    return json({ query: q, searchType: "fuzzy", skills, count: skills.length, duration_ms: 1 });
  }

  #api(path: string): Answer {
    if (this.rateLimited)
      return { ...json({ message: "API rate limit exceeded" }, 403), headers: { "x-ratelimit-remaining": "0" } };
    const [, name = "", rest = ""] = /^\/repos\/([^/]+\/[^/]+)(\/.*)?$/.exec(path) ?? [];
    const repo = this.repos.get(name);
    if (!repo) return notFound;
    const branch = repo.branch ?? "main";
    const permissions = { push: repo.mine === true, pull: true };
    if (rest === "") return json({ full_name: name, default_branch: branch, private: false, permissions });
    if (rest.startsWith("/git/trees/")) return rest === `/git/trees/${branch}` ? this.#tree(repo) : notFound;
    if (rest.startsWith("/contents/")) return this.#contents(repo, rest.slice("/contents/".length));
    if (rest === `/git/ref/heads/${branch}`) return json({ ref: `refs/heads/${branch}`, object: { sha: "c0ffee" } });
    if (rest === "/git/commits/c0ffee") return json({ sha: "c0ffee", tree: { sha: "7ee" } });
    return notFound;
  }

  #tree(repo: FakeRepo): Answer {
    const files = Object.entries(repo.files).map(([path, file]) => {
      const { content, mode = "100644" } = findFile(file);
      return { path, mode, type: "blob", sha: blobSha(content), size: Buffer.byteLength(content), url: "" };
    });
    const folders = new Set(
      files.flatMap(({ path }) => {
        const parts = path.split("/").slice(0, -1);
        return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
      }),
    );
    const trees = [...folders].map((path) => ({ path, mode: "040000", type: "tree", sha: "7ee", url: "" }));
    const tree = repo.truncated ? trees.slice(0, 1) : [...trees, ...files];
    return json({ sha: blobSha(JSON.stringify(repo.files)), url: "", tree, truncated: repo.truncated === true });
  }

  #contents(repo: FakeRepo, folder: string): Answer {
    const seen = new Map<string, object>();
    for (const [path, given] of Object.entries(repo.files)) {
      if (!path.startsWith(`${folder}/`)) continue;
      const [name = "", ...deeper] = path.slice(folder.length + 1).split("/");
      const { content, mode } = findFile(given);
      const type = deeper.length > 0 ? "dir" : mode === "120000" ? "symlink" : "file";
      seen.set(name, { name, path: `${folder}/${name}`, type, size: content.length, sha: blobSha(content) });
    }
    return seen.size === 0 ? notFound : json([...seen.values()]);
  }

  #raw(path: string): Answer {
    const [owner, name, , ...file] = path.split("/");
    const found = this.repos.get(`${owner}/${name}`)?.files[file.join("/")];
    if (found === undefined) return { status: 404, body: "404: Not Found" };
    const { content, served } = findFile(found);
    return { status: 200, body: served ?? content };
  }

  /** Git's data interface, as far as one commit and a pull request need it. */
  #post(path: string, body: string): Answer {
    const [, name = "", action = ""] = /^\/repos\/([^/]+\/[^/]+)\/(.+)$/.exec(path) ?? [];
    const repo = this.repos.get(name);
    if (!repo) return notFound;
    if (action === "forks") {
      const fork = `me/${name.split("/")[1]}`;
      this.repos.set(fork, repo);
      return json({ full_name: fork }, 202);
    }
    const parsed = JSON.parse(body) as { content?: string };
    if (action === "git/blobs")
      return json({ sha: blobSha(Buffer.from(parsed.content ?? "", "base64").toString()) }, 201);
    if (action === "git/trees") return json({ sha: "7ee2" }, 201);
    if (action === "git/commits") return json({ sha: "c0ffee2" }, 201);
    if (action === "git/refs") return json({ ref: "" }, 201);
    return action === "pulls" ? json({ html_url: `https://github.com/${name}/pull/7` }, 201) : notFound;
  }
}
