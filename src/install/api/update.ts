// Updates the program: a checkout is built beside itself and switched at the end, a package is installed by npm.
import { existsSync } from "node:fs";
import { cp, mkdtemp, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../../core/failure.ts";
import { type ProgramRun, runToEnd } from "../../lib/process/run-to-end.ts";
import type { Installation } from "./installation.ts";

const FETCH_MS = 120_000;
const BUILD_MS = 1_800_000;
const TRY_MS = 60_000;

export interface UpdateState {
  /** Commits or versions that are newer; 0 when up to date. */
  readonly behind: number;
  readonly current: string;
  readonly newest: string;
}

type Env = { readonly [name: string]: string | undefined };

/** Runs a program with the environment of the user; throws with its last line when it fails. */
async function run(argv: readonly string[], cwd: string, env: Env, timeoutMs = FETCH_MS): Promise<ProgramRun> {
  const known = Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const result = await runToEnd(argv, { cwd, env: known, timeoutMs });
  if (result.code === 0) return result;
  const said = `${result.stderr}\n${result.stdout}`.trim().split("\n").filter(Boolean).at(-1) ?? "no output";
  const why = result.timedOut ? `no end after ${timeoutMs / 1000} s` : said;
  throw new UserError(`${argv.slice(0, 3).join(" ")} failed: ${why}`, {
    hint: "The installed program is unchanged. Check the network, then try again.",
  });
}

function refuseManaged({ kind, manager, root }: Installation): void {
  if (kind === "managed")
    throw new UserError(`${manager} manages this installation`, {
      hint: manager === "Homebrew" ? "Run: brew upgrade hermes-ts" : `Update it with ${manager}.`,
    });
  if (kind === "folder")
    throw new UserError(`${root} is neither a git checkout nor an npm package`, {
      hint: "Update it in the way in which it was installed.",
    });
}

async function git(root: string, env: Env, ...args: string[]): Promise<string> {
  return (await run(["git", "-C", root, ...args], root, env)).stdout.trim();
}

/** Asks the source of the installation. */
export async function checkForUpdate(installation: Installation, env: Env): Promise<UpdateState> {
  refuseManaged(installation);
  const { root, kind, version, packageName } = installation;
  if (kind === "npm") {
    const newest = (await run(["npm", "view", packageName, "version"], root, env)).stdout.trim();
    return { behind: newest === version ? 0 : 1, current: version, newest };
  }
  await git(root, env, "fetch", "--quiet");
  const upstream = await git(root, env, "rev-parse", "--abbrev-ref", "@{upstream}").catch(() => {
    throw new UserError("this branch follows no other branch", {
      hint: `In ${root}: git branch --set-upstream-to=origin/main`,
    });
  });
  const behind = Number(await git(root, env, "rev-list", "--count", `HEAD..${upstream}`));
  const short = (name: string) => git(root, env, "rev-parse", "--short", name);
  return { behind, current: `${version} (${await short("HEAD")})`, newest: await short(upstream) };
}

/** The new program must start and answer before anything is switched. */
async function tryProgram(main: string, env: Env): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "hermes-update-"));
  try {
    const clean = { PATH: env.PATH, HOME: home, HERMES_HOME: home };
    await run([process.execPath, main, "--version"], home, clean, TRY_MS);
    await run([process.execPath, main, "-z", "hello"], home, clean, TRY_MS);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Each rename is one step; a start between two of them builds the program again (bin/hermes). */
async function replaceFolder(fresh: string, place: string): Promise<void> {
  const old = `${place}.old`;
  await rm(old, { recursive: true, force: true });
  if (existsSync(place)) await rename(place, old);
  await rename(fresh, place);
  await rm(old, { recursive: true, force: true });
}

async function updateCheckout(root: string, env: Env, say: (text: string) => void): Promise<void> {
  const changed = await git(root, env, "status", "--porcelain", "--untracked-files=no");
  if (changed !== "")
    throw new UserError("the checkout has changes of its own", {
      hint: `Nothing was updated. Commit them or put them aside first: git -C ${root} stash`,
    });
  const target = await git(root, env, "rev-parse", "@{upstream}");
  // Inside the checkout, so that every rename stays on one disk.
  const stage = join(root, "node_modules", ".hermes", `update-${process.pid}`);
  await rm(stage, { recursive: true, force: true });
  try {
    await git(root, env, "worktree", "add", "--detach", "--force", stage, target);
    const sameLock = (await git(root, env, "diff", "--name-only", `HEAD..${target}`, "--", "package-lock.json")) === "";
    say(sameLock ? "Building the new version …" : "Installing packages and building the new version …");
    if (sameLock) await symlink(join(root, "node_modules"), join(stage, "node_modules"));
    else
      await run(
        ["npm", "ci", "--workspaces=false", "--no-audit", "--no-fund", "--loglevel=error"],
        stage,
        env,
        BUILD_MS,
      );
    await run([process.execPath, "scripts/build.mjs"], stage, env, BUILD_MS);
    say("Trying it …");
    await tryProgram(join(stage, "dist", "main.js"), env);
    say("Switching …");
    await git(root, env, "merge", "--ff-only", "--quiet", target);
    if (!sameLock) {
      const state = join(root, "node_modules", ".hermes");
      if (existsSync(state))
        await cp(state, join(stage, "node_modules", ".hermes"), {
          recursive: true,
          filter: (path) => !path.startsWith(stage),
        });
      await rename(join(stage, "node_modules"), join(root, "node_modules.new"));
    }
    await replaceFolder(join(stage, "dist"), join(root, "dist"));
  } finally {
    await git(root, env, "worktree", "remove", "--force", stage).catch(() => undefined);
    await rm(stage, { recursive: true, force: true });
    await git(root, env, "worktree", "prune").catch(() => undefined);
  }
  if (existsSync(join(root, "node_modules.new")))
    await replaceFolder(join(root, "node_modules.new"), join(root, "node_modules"));
}

async function updatePackage(
  { packageName, version, root }: Installation,
  env: Env,
  say: (text: string) => void,
): Promise<void> {
  say("npm installs the new version …");
  await run(["npm", "install", "--global", `${packageName}@latest`], root, env, BUILD_MS);
  try {
    await tryProgram(join(root, "dist", "main.js"), env);
  } catch (error) {
    say(`The new version does not work; ${version} is installed again.`);
    await run(["npm", "install", "--global", `${packageName}@${version}`], root, env, BUILD_MS);
    throw error;
  }
}

/** Interrupted before the switch, the installed program is unchanged. */
export async function updateInstallation(
  installation: Installation,
  env: Env,
  say: (text: string) => void,
): Promise<void> {
  refuseManaged(installation);
  if (installation.kind === "npm") await updatePackage(installation, env, say);
  else await updateCheckout(installation.root, env, say);
}
