// Installs plugins from git, npm or a folder, updates and removes them. Install scripts never run.
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve, sep } from "node:path";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import { type ProgramRun, runToEnd } from "../lib/process/run-to-end.ts";
import { discoverPlugins, type FoundPlugin, readPluginFolder } from "./discovery.ts";
import { PluginCache } from "./plugin-cache.ts";
import { manifestProblem } from "./plugin-status.ts";

const GIT_TIMEOUT_MS = 60_000;
const NPM_TIMEOUT_MS = 180_000;
const GIT_SAFE = ["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-c", "core.symlinks=true"];

/** A file in an installed copy that names the source folder. */
const ORIGIN_FILE = ".copied-from";

export type InstallSource =
  | { readonly kind: "git"; readonly url: string }
  | { readonly kind: "npm"; readonly spec: string; readonly name: string }
  | { readonly kind: "folder"; readonly path: string };

export interface InstallOptions {
  readonly force: boolean;
  /** Environment of git and npm: without secrets. */
  readonly env: { readonly [name: string]: string };
}

export interface Installed {
  readonly plugin: FoundPlugin;
  /** `after-install.md`, when the plugin has one. */
  readonly note: string | null;
}

/** A git URL, `owner/repo` on GitHub, `npm:package`, or a folder. */
export function parseInstallSource(text: string, home: Home): InstallSource {
  if (text.startsWith("npm:")) {
    const spec = text.slice(4);
    const match = /^((?:@[\w.-]+\/)?[\w.-]+)(?:@[\w.^~<>=*-]+)?$/.exec(spec);
    const folder = /^[./~]/.test(spec) ? resolve(home.cwd, spec) : undefined;
    const name = folder ? packageName(folder) : match?.[1];
    if (!name) throw new UserError(`"${spec}" is not a package name`, { exitCode: 2 });
    return { kind: "npm", spec: folder ?? spec, name };
  }
  if (/^(https?|ssh|git|file):\/\/|^git@[\w.-]+:/.test(text)) return { kind: "git", url: text };
  const path = resolve(home.cwd, text.replace(/^~(?=\/|$)/, home.env.HOME ?? homedir()));
  if (/^[./~]/.test(text) || statSync(path, { throwIfNoEntry: false })?.isDirectory()) return { kind: "folder", path };
  if (/^[\w.-]+\/[\w.-]+$/.test(text)) return { kind: "git", url: `https://github.com/${text}.git` };
  throw new UserError(`"${text}" is not a plugin source`, {
    hint: "Use a git URL, owner/repo, npm:PACKAGE or a folder.",
    exitCode: 2,
  });
}

function packageName(folder: string): string | undefined {
  const file = join(folder, "package.json");
  if (!existsSync(file)) throw new UserError(`${folder} has no package.json`);
  const { name } = (parseJson(readFileSync(file, "utf8")) ?? {}) as { name?: unknown };
  return typeof name === "string" ? name : undefined;
}

/** Describes the steps of an installation. */
export function describeInstall(source: InstallSource, home: Home): string[] {
  if (source.kind === "folder") requireFolder(source.path);
  const target = join(home.path, "plugins");
  const never = "run none of its code now; it runs inside Hermes once it is enabled";
  if (source.kind === "git")
    return [`clone ${source.url} (latest commit, no submodules, no git hooks) into ${target}`, never];
  if (source.kind === "npm") return [`npm install --ignore-scripts ${source.spec} into ${target}`, never];
  return [`copy ${source.path} into ${target}`, never];
}

function requireFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new UserError(`there is no folder ${path}`);
}

function programError(what: string, run: ProgramRun): UserError {
  const last = run.stderr.trim().split("\n").slice(-3).join("\n");
  return new UserError(
    `${what} ${run.timedOut ? "took too long" : `failed (exit code ${run.code})`}${last ? `:\n${last}` : ""}`,
  );
}

/** Throws when a symbolic link points out of the folder. */
function refuseOutsideLinks(root: string, folder: string = root): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (lstatSync(path).isSymbolicLink()) {
      const target = existsSync(path) ? realpathSync(path) : "";
      if (!target.startsWith(realpathSync(root) + sep))
        throw new UserError(`the plugin has a link that points out of its folder: ${path.slice(root.length + 1)}`);
    } else if (entry.isDirectory()) refuseOutsideLinks(root, path);
  }
}

async function moveIntoPlace(draft: string, home: Home, options: InstallOptions): Promise<FoundPlugin> {
  refuseOutsideLinks(draft);
  const draftPlugin = await readPluginFolder(draft);
  if (!draftPlugin)
    throw new UserError("there is no plugin.yaml in it", {
      hint: "A plugin is a folder with plugin.yaml and index.js.",
    });
  const { name } = draftPlugin.manifest;
  const problem =
    manifestProblem(draftPlugin) ?? draftPlugin.manifest.problems.find((text) => text.includes("manifest_version"));
  if (problem) throw new UserError(`plugin ${name} cannot be installed: ${problem}`);
  const target = join(home.path, "plugins", name);
  if (dirname(target) !== join(home.path, "plugins")) throw new UserError(`"${name}" is not a valid plugin name`);
  if (existsSync(target)) {
    if (!options.force)
      throw new UserError(`plugin ${name} is already installed`, {
        hint: "Replace it with --force, or: hermes plugins update",
      });
    // The old version is kept until the new one is in place, and deleted with the folder of the draft.
    await rename(target, join(dirname(draft), ".replaced"));
  }
  await rename(draft, target);
  await copyExamples(target);
  const plugin = await readPluginFolder(target);
  if (!plugin) throw new UserError(`plugin ${name} disappeared during the installation`);
  return plugin;
}

/** Copies `config.json.example` to `config.json` when that does not exist. */
async function copyExamples(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const real = join(folder, name.replace(/\.example$/, ""));
    if (name.endsWith(".example") && !existsSync(real)) await writeFile(real, await readFile(join(folder, name)));
  }
}

async function fetchInto(draft: string, source: InstallSource, options: InstallOptions): Promise<void> {
  if (source.kind === "folder") {
    requireFolder(source.path);
    await cp(source.path, draft, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (from) => basename(from) !== ".git",
    });
    return;
  }
  if (source.kind !== "git") return;
  const argv = [
    "git",
    ...GIT_SAFE,
    "clone",
    "--quiet",
    "--depth",
    "1",
    "--no-recurse-submodules",
    "--",
    source.url,
    draft,
  ];
  const env = { ...options.env, GIT_TERMINAL_PROMPT: "0" };
  const run = await runToEnd(argv, { cwd: dirname(draft), env, timeoutMs: GIT_TIMEOUT_MS });
  if (run.code !== 0) throw programError(`git clone ${source.url}`, run);
}

async function runNpm(args: readonly string[], home: Home, env: InstallOptions["env"]): Promise<void> {
  const root = join(home.path, "plugins");
  await mkdir(root, { recursive: true, mode: 0o700 });
  const own = join(root, "package.json");
  if (!existsSync(own)) await writeFile(own, `${JSON.stringify({ private: true, type: "module" }, null, 2)}\n`);
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--install-links", "--prefix", root];
  const run = await runToEnd(["npm", ...args, ...flags], { cwd: root, env, timeoutMs: NPM_TIMEOUT_MS });
  if (run.code !== 0) throw programError(`npm ${args.join(" ")}`, run);
}

async function installPackage(
  name: string,
  spec: string,
  home: Home,
  env: InstallOptions["env"],
): Promise<FoundPlugin> {
  await runNpm(["install", "--save", spec], home, env);
  const found = await discoverPlugins(home, PluginCache.open(home.path));
  const plugin = [...found.values()].find(
    (entry) => entry.source === "npm" && entry.dir.endsWith(`${sep}${name.replace("/", sep)}`),
  );
  const problem = plugin
    ? manifestProblem(plugin)
    : `package ${name} is not a Hermes plugin: its package.json has no "hermes" field`;
  if (plugin && !problem) return plugin;
  await runNpm(["uninstall", "--save", name], home, env);
  throw new UserError(`${problem}; it was removed again`);
}

/** The last part of the source; used as the name when the manifest has no valid one. */
function folderName(from: string): string {
  const last = from.replace(/\/+$/, "").split(/[/:]/).at(-1) ?? "";
  return (
    last
      .replace(/\.git$/, "")
      .replaceAll(/[^\w-]/g, "-")
      .replace(/^[-_]+/, "") || "plugin"
  );
}

export async function installPlugin(source: InstallSource, home: Home, options: InstallOptions): Promise<Installed> {
  if (source.kind === "npm") {
    const plugin = await installPackage(source.name, source.spec, home, options.env);
    return { plugin, note: await readNote(plugin) };
  }
  const root = join(home.path, "plugins");
  await mkdir(root, { recursive: true, mode: 0o700 });
  const draft = join(
    await mkdtemp(join(root, ".install-")),
    folderName(source.kind === "git" ? source.url : source.path),
  );
  try {
    await fetchInto(draft, source, options);
    if (source.kind === "folder") await writeFile(join(draft, ORIGIN_FILE), `${source.path}\n`);
    const plugin = await moveIntoPlace(draft, home, options);
    return { plugin, note: await readNote(plugin) };
  } finally {
    await rm(dirname(draft), { recursive: true, force: true });
  }
}

function readNote(plugin: FoundPlugin): Promise<string | null> {
  return readFile(join(plugin.dir, "after-install.md"), "utf8").catch(() => null);
}

/** Throws for plugins that were not installed into the home: only those may be changed or removed. */
export function requireRemovable(plugin: FoundPlugin, home: Home, verb: string): void {
  const root = join(home.path, "plugins");
  const installed = plugin.source === "npm" || (plugin.source === "home" && plugin.dir.startsWith(root + sep));
  if (!installed)
    throw new UserError(`plugin ${plugin.key} is ${plugin.source} and cannot be ${verb}`, {
      hint: `Switch it off with: hermes plugins disable ${plugin.key}`,
    });
}

/** Copies the source folder again. */
async function copyAgain(plugin: FoundPlugin, home: Home, env: InstallOptions["env"]): Promise<void> {
  const path = (await readFile(join(plugin.dir, ORIGIN_FILE), "utf8").catch(() => "")).trim();
  if (path === "")
    throw new UserError(`the source of plugin ${plugin.key} is not known`, {
      hint: "Install it again with --force.",
    });
  await installPlugin({ kind: "folder", path }, home, { force: true, env });
}

async function pull(plugin: FoundPlugin, env: InstallOptions["env"]): Promise<void> {
  const argv = ["git", ...GIT_SAFE, "-C", plugin.dir, "pull", "--ff-only", "--quiet", "--no-recurse-submodules"];
  const run = await runToEnd(argv, {
    cwd: plugin.dir,
    env: { ...env, GIT_TERMINAL_PROMPT: "0" },
    timeoutMs: GIT_TIMEOUT_MS,
  });
  if (run.code !== 0) throw programError("git pull", run);
  refuseOutsideLinks(plugin.dir);
}

/** The name of the npm package with its scope, which may differ from the name of the plugin. */
async function readPackageName(plugin: FoundPlugin): Promise<string> {
  const { name } = (parseJson(await readFile(join(plugin.dir, "package.json"), "utf8")) ?? {}) as {
    name?: string | undefined;
  };
  return name ?? basename(plugin.dir);
}

/** `npm update` does not update a package that was installed from a folder, so such a package is installed again. */
async function updatePackage(plugin: FoundPlugin, home: Home, env: InstallOptions["env"]): Promise<void> {
  const name = await readPackageName(plugin);
  const list = parseJson(await readFile(join(home.path, "plugins", "package.json"), "utf8"));
  const { dependencies } = (list ?? {}) as { dependencies?: { [name: string]: string } };
  const spec = dependencies?.[name] ?? "";
  if (!spec.startsWith("file:")) return runNpm(["update", name], home, env);
  await runNpm(["install", "--save", resolve(home.path, "plugins", spec.slice("file:".length))], home, env);
}

/** Updates the plugin and returns the result as text. */
export async function updatePlugin(plugin: FoundPlugin, home: Home, env: InstallOptions["env"]): Promise<string> {
  requireRemovable(plugin, home, "updated");
  const { version: before } = plugin.manifest;
  if (plugin.source === "npm") await updatePackage(plugin, home, env);
  else if (existsSync(join(plugin.dir, ".git"))) await pull(plugin, env);
  else await copyAgain(plugin, home, env);
  const found = await discoverPlugins(home, PluginCache.open(home.path));
  const now = [...found.values()].find(({ dir }) => dir === plugin.dir);
  const after = now?.manifest.version ?? before;
  const problem = now && manifestProblem(now);
  if (problem) throw new UserError(`plugin ${plugin.key} is now ${after} and does not work: ${problem}`);
  if (after !== before) return `${before} → ${after}`;
  return existsSync(join(plugin.dir, ORIGIN_FILE)) ? `${after}, copied again` : `${after} is the newest`;
}

export async function removePlugin(plugin: FoundPlugin, home: Home, env: InstallOptions["env"]): Promise<void> {
  requireRemovable(plugin, home, "removed");
  if (plugin.source === "npm") {
    await runNpm(["uninstall", "--save", await readPackageName(plugin)], home, env);
    return;
  }
  // For a symbolic link, only the link is removed.
  await rm(plugin.dir, { recursive: !lstatSync(plugin.dir).isSymbolicLink(), force: true });
}
