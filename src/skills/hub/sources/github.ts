// Source `owner/repo/path`: a skill in a GitHub repository, and the listed skills of taps.
import { trustLevel } from "../../guard/policy.ts";
import { inBatches } from "../../in-batches.ts";
import { parseSkill } from "../../parse.ts";
import type { Bundle } from "../bundle.ts";
import { type HubHost, type HubListing, type HubSource, matches } from "../hub-host.ts";
import { cachedListing } from "../index-cache.ts";
import { isRepo, type Tap, Taps } from "../taps.ts";
import { GitHubClient, type RepoRef } from "./github-client.ts";
import { fetchRepoSkill, skillFolders } from "./repo-skill.ts";

const MAX_PER_TAP = 80;
const WIDTH = 8;

export interface RepoIdentifier extends RepoRef {
  readonly path: string;
}

/** `owner/repo[/path][#ref]`, and addresses of folders and files on github.com. */
export function parseRepoIdentifier(identifier: string): RepoIdentifier | undefined {
  const page = /^https?:\/\/(?:www\.)?github\.com\/([^/]+\/[^/#?]+)(?:\/(?:tree|blob)\/([^/]+)\/?(.*))?$/.exec(
    identifier,
  );
  const [, pageRepo, pageRef, pagePath = ""] = page ?? [];
  const [words = "", ref = pageRef] = pageRepo ? [`${pageRepo}/${pagePath}`] : identifier.split("#", 2);
  const [owner = "", repo = "", ...rest] = words.split("/").filter((part) => part !== "");
  const name = `${owner}/${repo.replace(/\.git$/, "")}`;
  if (!isRepo(name) || (ref !== undefined && !/^[\w./-]{1,100}$/.test(ref))) return undefined;
  const path = rest.join("/").replace(/(?:^|\/)SKILL\.md$/, "");
  return { repo: name, path, ref };
}

async function listTap(host: HubHost, tap: Tap): Promise<HubListing[]> {
  const client = new GitHubClient(host);
  const tree = await client.tree({ repo: tap.repo });
  const folders = skillFolders(tree)
    .filter((folder) => `${folder}/`.startsWith(tap.path) && !/^[._]/.test(folder.split("/").at(-1) ?? ""))
    .slice(0, MAX_PER_TAP);
  const listings = await inBatches(folders, WIDTH, async (folder): Promise<HubListing[]> => {
    const path = folder === "" ? "SKILL.md" : `${folder}/SKILL.md`;
    const entry = tree.entries.find((candidate) => candidate.path === path);
    if (!entry) return [];
    const { header } = await parseSkill(new TextDecoder().decode(await client.file(tree, entry)));
    const identifier = folder === "" ? tap.repo : `${tap.repo}/${folder}`;
    const name = folder.split("/").at(-1) || (tap.repo.split("/")[1] ?? "");
    const { description, tags } = header;
    return [{ name, description, source: "github", identifier, trust: trustLevel(identifier), tags }];
  });
  return listings.flat();
}

export function githubSource(host: HubHost): HubSource & { list(tap: Tap): Promise<readonly HubListing[]> } {
  const list = (tap: Tap) =>
    cachedListing(host.skillsDir, `${host.github.api} ${tap.repo} ${tap.path}`, () => listTap(host, tap));
  return {
    id: "github",
    summary: "owner/repo/path on GitHub, and taps",
    list,
    accepts: (identifier) => identifier.includes("/") && parseRepoIdentifier(identifier) !== undefined,
    search: async (query, limit) => {
      const taps = await new Taps(host.skillsDir).all();
      const settled = await Promise.allSettled(taps.map(list));
      const failed = settled.find((result) => result.status === "rejected");
      const found = settled.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
      if (found.length === 0 && failed) throw failed.reason;
      return found.filter((listing) => query === "" || matches(listing, query)).slice(0, limit);
    },
    fetch: async (identifier): Promise<Bundle> => {
      const where = parseRepoIdentifier(identifier);
      if (!where) throw new Error(`${identifier} is not a repository`);
      const { tree, folder, files } = await fetchRepoSkill(host, where, where.path);
      const found = folder === "" ? where.repo : `${where.repo}/${folder}`;
      return {
        name: (folder.split("/").at(-1) || where.repo.split("/")[1] || "").toLowerCase(),
        source: "github",
        identifier: where.ref === undefined ? found : `${found}#${where.ref}`,
        // With a ref GitHub also serves commits of forks, which are untrusted.
        trust: where.ref === undefined ? trustLevel(found) : "community",
        files,
        origin: { repository: where.repo, path: folder, ref: tree.ref, tree: tree.sha },
      };
    },
  };
}
