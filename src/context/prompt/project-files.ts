// Instructions that a project keeps for agents: found by fixed names, the first kind wins, bounded and scanned.
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { noScan, type Scan } from "../../core/scan.ts";
import { readIfExists } from "../../lib/read-if-exists.ts";

export const PROJECT_FILE_CHARS = 20_000;

export interface ProjectFile {
  /** As shown to the model: `AGENTS.md`, `.cursor/rules/style.mdc`. */
  readonly name: string;
  readonly text: string;
}

/** Undefined when the file is missing, unreadable or blank. */
async function readText(path: string): Promise<string | undefined> {
  try {
    const text = (await readIfExists(path))?.replace(/^\ufeff/, "");
    return text?.trim() === "" ? undefined : text;
  } catch {
    // Unreadable files and folders are treated as missing.
    return undefined;
  }
}

/** Head and tail of a long file around a line about the cut. */
export function capText(text: string, name: string, limit = PROJECT_FILE_CHARS): string {
  if (text.length <= limit) return text;
  const head = Math.floor(limit * 0.7);
  const tail = Math.floor(limit * 0.2);
  const marker = `[...truncated ${name}: kept ${head}+${tail} of ${text.length} chars. Read the file for the rest.]`;
  return `${text.slice(0, head)}\n\n${marker}\n\n${text.slice(-tail)}`;
}

function withoutFrontMatter(text: string): string {
  return text.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n?/, "");
}

/** From `cwd` up to the folder that holds `.git`; only `cwd` outside a repository. */
function foldersUp(cwd: string): string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.push(folder);
    if (existsSync(join(folder, ".git"))) return folders;
    if (dirname(folder) === folder) return [cwd];
  }
}

/** Checked in parallel: usually none exists, and sequential checks would be slower. */
async function findFirst(folders: readonly string[], names: readonly string[]): Promise<ProjectFile | undefined> {
  const places = folders.flatMap((folder) => names.map((name) => ({ folder, name })));
  const read = async ({ folder, name }: (typeof places)[number]) => ({
    name,
    text: await readText(join(folder, name)),
  });
  for (const { name, text } of await Promise.all(places.map(read))) if (text !== undefined) return { name, text };
  return undefined;
}

async function cursorRules(cwd: string): Promise<ProjectFile[]> {
  const files: ProjectFile[] = [];
  const main = await findFirst([cwd], [".cursorrules"]);
  if (main !== undefined) files.push(main);
  const folder = join(cwd, ".cursor", "rules");
  const names = existsSync(folder) ? await readdir(folder).catch(() => [] as string[]) : [];
  for (const name of names.filter((entry) => entry.endsWith(".mdc")).sort()) {
    const text = await readText(join(folder, name));
    if (text !== undefined) files.push({ name: `.cursor/rules/${name}`, text });
  }
  return files;
}

async function findFiles(cwd: string): Promise<readonly ProjectFile[]> {
  const [own, other, cursor] = await Promise.all([
    findFirst(foldersUp(cwd), [".hermes.md", "HERMES.md"]),
    findFirst([cwd], ["AGENTS.md", "agents.md", "CLAUDE.md", "claude.md"]),
    cursorRules(cwd),
  ]);
  if (own !== undefined) return [{ ...own, text: withoutFrontMatter(own.text) }];
  return other === undefined ? cursor : [other];
}

/** True when the project has instructions that become part of the prompt. */
export async function hasProjectFiles(cwd: string): Promise<boolean> {
  return (await findFiles(cwd)).length > 0;
}

/** The project's files for the prompt: capped, with suspicious spans quarantined. */
export async function readProjectFiles(cwd: string, scan: Scan = noScan): Promise<ProjectFile[]> {
  const files = await findFiles(cwd);
  return files.map(({ name, text }) => ({ name, text: scan(capText(text.trim(), name), name).text }));
}
