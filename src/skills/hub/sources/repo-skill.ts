// Finds the folder of a skill in a GitHub repository and fetches its files.
import { UserError } from "../../../core/failure.ts";
import { inBatches } from "../../in-batches.ts";
import { parseSkill } from "../../parse.ts";
import { type BundleFile, checkFiles, pathMistake, visiblePath } from "../bundle.ts";
import type { HubHost } from "../hub-host.ts";
import { HubRefusal, LIMITS } from "../refusal.ts";
import { GitHubClient, type RepoRef, type Tree, type TreeEntry } from "./github-client.ts";

const WIDTH = 8;
const MAX_READ_FOR_NAMES = 40;
const USUAL = ["", "skills/", "skills/.curated/", ".agents/skills/", ".claude/skills/"];
const ROOT_FOLDERS = /^(?:references|templates|scripts|assets)\//;

export interface RepoSkill {
  readonly tree: Tree;
  /** The skill's folder; empty for the repository itself. */
  readonly folder: string;
  readonly files: readonly BundleFile[];
}

/** Folders with a SKILL.md. */
export function skillFolders(tree: Tree): string[] {
  return tree.entries
    .filter((entry) => entry.kind === "file" && /(?:^|\/)SKILL\.md$/.test(entry.path))
    .map((entry) => entry.path.replace(/\/?SKILL\.md$/, ""));
}

async function byHeader(client: GitHubClient, tree: Tree, name: string): Promise<string[]> {
  const folders = skillFolders(tree).slice(0, MAX_READ_FOR_NAMES);
  const named = await inBatches(folders, WIDTH, async (folder) => {
    const path = folder === "" ? "SKILL.md" : `${folder}/SKILL.md`;
    const entry = tree.entries.find((candidate) => candidate.path === path);
    if (!entry) return undefined;
    const { header } = await parseSkill(new TextDecoder().decode(await client.file(tree, entry)));
    return header.name === name ? folder : undefined;
  });
  return named.filter((folder) => folder !== undefined);
}

/** Tries the exact path, the usual folders, the only folder of that name, and last the name in the front matter. */
async function findFolder(client: GitHubClient, tree: Tree, wanted: string): Promise<string> {
  if (tree.truncated) return wanted;
  const folders = skillFolders(tree);
  const exact = USUAL.map((prefix) => `${prefix}${wanted}`).find((path) => folders.includes(path));
  if (exact !== undefined) return exact;
  const last = wanted.split("/").at(-1) ?? wanted;
  const same = folders.filter((folder) => folder.split("/").at(-1) === last);
  const found = same.length > 0 ? same : await byHeader(client, tree, last);
  const [only] = found;
  if (only === undefined)
    throw new UserError(`${tree.repo} has no skill "${wanted}"`, {
      hint:
        folders.length > 0
          ? `It has: ${folders.slice(0, 20).map(visiblePath).join(", ")}`
          : "It has no SKILL.md at all.",
    });
  if (found.length > 1)
    throw new UserError(`${tree.repo} has several skills "${wanted}"`, {
      hint: `Choose one: ${found.map(visiblePath).join(", ")}`,
    });
  return only;
}

async function listFolder(client: GitHubClient, tree: Tree, folder: string): Promise<TreeEntry[]> {
  const inside = tree.truncated
    ? await client.below(tree, folder)
    : tree.entries.filter((entry) => entry.kind !== "folder" && (folder === "" || entry.path.startsWith(`${folder}/`)));
  const relative = inside.map((entry) => (folder === "" ? entry.path : entry.path.slice(folder.length + 1)));
  // A repository that is itself a skill contains other files too: only those of a skill are used.
  return inside.filter((_, index) => {
    const path = relative[index] ?? "";
    return folder !== "" || path === "SKILL.md" || ROOT_FOLDERS.test(path);
  });
}

export async function fetchRepoSkill(host: HubHost, where: RepoRef, wanted: string): Promise<RepoSkill> {
  if (wanted !== "" && pathMistake(wanted))
    throw new HubRefusal(`refused: the path "${wanted}" ${pathMistake(wanted)}`);
  const client = new GitHubClient(host);
  const tree = await client.tree(where);
  const folder = await findFolder(client, tree, wanted);
  const entries = await listFolder(client, tree, folder);
  if (entries.length > LIMITS.files) throw new HubRefusal(`refused: more than ${LIMITS.files} files`);
  const total = entries.reduce((sum, entry) => sum + entry.size, 0);
  if (total > LIMITS.total) throw new HubRefusal(`refused: ${total} bytes in all; at most ${LIMITS.total}`);
  const cut = folder === "" ? 0 : folder.length + 1;
  const named = entries.map((entry) => ({ ...entry, full: entry, path: entry.path.slice(cut) }));
  // Check names and types before fetching any file.
  checkFiles(named.map(({ path, kind, mode }) => ({ path, kind, mode, bytes: new Uint8Array(0) })));
  const files = await inBatches(named, WIDTH, async ({ path, mode, full }) => ({
    path,
    bytes: await client.file(tree, full),
    mode,
  }));
  return { tree, folder, files };
}
