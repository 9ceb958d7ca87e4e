// Publishes a skill as a pull request: one commit on a new branch, in a fork unless the user can push.
import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../../core/failure.ts";
import { inBatches } from "../in-batches.ts";
import type { HubHost } from "./hub-host.ts";
import type { Publication } from "./publish.ts";
import { GitHubClient } from "./sources/github-client.ts";

const FORK_TRIES = 10;

interface PushTarget {
  readonly client: GitHubClient;
  /** The repository that gets the branch. */
  readonly repo: string;
  readonly base: string;
}

/** GitHub creates forks in the background: waits until the branch exists. */
async function waitForHead({ client, repo, base }: PushTarget): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      const { object } = await client.get(`/repos/${repo}/git/ref/heads/${base}`, repo);
      return String((object as { sha?: unknown } | undefined)?.sha ?? "");
    } catch (error) {
      if (!(error instanceof UserError) || attempt >= FORK_TRIES) throw error;
      await sleep(500 * attempt);
    }
  }
}

async function commit(target: PushTarget, publication: Publication, title: string): Promise<string> {
  const { client, repo } = target;
  const parent = await waitForHead(target);
  const { tree } = await client.get(`/repos/${repo}/git/commits/${parent}`, repo);
  const entries = await inBatches(publication.files, 4, async ({ path, bytes }) => {
    const content = Buffer.from(bytes).toString("base64");
    const { sha } = await client.post(`/repos/${repo}/git/blobs`, { content, encoding: "base64" }, repo);
    const mode = bytes[0] === 0x23 && bytes[1] === 0x21 ? "100755" : "100644";
    return { path: `skills/${publication.name}/${path}`, mode, type: "blob", sha };
  });
  const base = (tree as { sha?: unknown } | undefined)?.sha;
  const made = await client.post(`/repos/${repo}/git/trees`, { base_tree: base, tree: entries }, repo);
  const options = { message: title, tree: made.sha, parents: [parent] };
  const { sha } = await client.post(`/repos/${repo}/git/commits`, options, repo);
  return String(sha);
}

/** Returns the URL of the pull request. */
export async function publishToGitHub(host: HubHost, repo: string, publication: Publication): Promise<string> {
  if (!host.github.token)
    throw new UserError("publishing to GitHub needs a token", {
      hint: "Set GITHUB_TOKEN to one that may write contents and pull requests: hermes config set GITHUB_TOKEN VALUE. Or write the skill to a folder with --to folder --dir DIR and push it yourself.",
    });
  const client = new GitHubClient(host);
  const about = await client.get(`/repos/${repo}`, repo);
  const base = typeof about.default_branch === "string" ? about.default_branch : "main";
  const mine = (about.permissions as { push?: unknown } | undefined)?.push === true;
  const fork = mine ? undefined : await client.post(`/repos/${repo}/forks`, {}, repo);
  const target = mine ? repo : String(fork?.full_name ?? "");
  const branch = `add-skill-${publication.name}`;
  const title = `Add the skill ${publication.name}`;
  const sha = await commit({ client, repo: target, base }, publication, title);
  await client.post(`/repos/${target}/git/refs`, { ref: `refs/heads/${branch}`, sha }, `${target} (branch ${branch})`);
  const head = mine ? branch : `${target.split("/")[0]}:${branch}`;
  const pull = await client.post(`/repos/${repo}/pulls`, { title, head, base, body: publication.description }, repo);
  return String(pull.html_url ?? "");
}
