// Files of a workspace that commands must not read (keys, .env) or change (what editors and shells run by themselves).
import { existsSync, realpathSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { isPathInside } from "../lib/path-inside.ts";

/** Programs of the user run or trust these when they open the folder. */
export const RUN_BY_EDITORS: readonly string[] = [
  ".envrc",
  ".vscode/tasks.json",
  ".vscode/launch.json",
  ".vscode/settings.json",
  ".idea/runConfigurations",
  ".idea/workspace.xml",
  ".zed/tasks.json",
  ".zed/settings.json",
  ".devcontainer/devcontainer.json",
  ".devcontainer.json",
  ".nvim.lua",
  ".nvimrc",
  ".exrc",
  ".lvimrc",
  ".dir-locals.el",
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".cursor/mcp.json",
  ".mcp.json",
];

const SKIPPED = new Set(
  "node_modules .git .hg .svn dist build target .venv venv __pycache__ .tox .next .nuxt .cache coverage out".split(" "),
);
const MAX_DEPTH = 4;
const MAX_ENTRIES = 8_000;
const MAX_SECRETS = 200;

const ENV_FILE = /^\.env(?:\.[\w.-]+)?$/;
/** Templates and test values, which projects share. */
const SHARED_ENV = /\.(?:example|sample|template|dist|defaults?|schema|test|testing|ci)$/;

/** True for a file with the secrets of a project. */
export function isProjectEnv(name: string): boolean {
  return ENV_FILE.test(name) && !SHARED_ENV.test(name);
}

async function* walk(folder: string, depth: number, budget: { left: number }): AsyncGenerator<string> {
  const entries = await opendir(folder).catch(() => null);
  if (!entries) return;
  const below: string[] = [];
  for await (const entry of entries) {
    if (--budget.left < 0) break;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (depth < MAX_DEPTH && !SKIPPED.has(entry.name)) below.push(path);
    } else yield path;
  }
  for (const path of below) yield* walk(path, depth + 1, budget);
}

/** The secret files of a folder, as far as a bounded search finds them. Links are resolved. */
export async function findSecretFiles(folder: string, isSecret: (path: string) => boolean): Promise<string[]> {
  const found = new Set<string>();
  for await (const path of walk(folder, 0, { left: MAX_ENTRIES })) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (!isProjectEnv(name) && !isSecret(path)) continue;
    const real = existsSync(path) ? realpathSync(path) : path;
    if (isPathInside(real, folder)) found.add(real);
    if (found.size >= MAX_SECRETS) break;
  }
  return [...found];
}
