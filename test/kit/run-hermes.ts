// Runs the built program as a child process with its own home. Builds it when it is missing or stale.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { workspaceEnv } from "./home-workspace.ts";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const builds = join(root, "node_modules", ".hermes", "test-builds");

function newest(path: string): number {
  const info = statSync(path, { throwIfNoEntry: false });
  if (!info) return 0;
  if (!info.isDirectory()) return info.mtimeMs;
  let time = 0;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (!entry.name.endsWith(".test.ts")) time = Math.max(time, newest(join(path, entry.name)));
  }
  return time;
}

/**
 * The release build when it is up to date; otherwise a separate build, named after the time of the newest source and put in
 * place by rename, because test files run in several processes and may need it at the same time.
 */
function findOrBuild(): string {
  const age = Math.max(newest(join(root, "src")), newest(join(root, "scripts", "build.mjs")));
  const release = join(root, "dist", "main.js");
  if ((statSync(release, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= age) return release;
  const folder = join(builds, String(Math.round(age)));
  const program = join(folder, "main.js");
  if (existsSync(program)) return program;
  mkdirSync(builds, { recursive: true });
  for (const name of readdirSync(builds)) {
    const old = join(builds, name);
    const made = statSync(old, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - made > 3_600_000) rmSync(old, { recursive: true, force: true });
  }
  const draft = mkdtempSync(join(builds, "draft-"));
  const built = spawnSync(process.execPath, [join(root, "scripts", "build.mjs"), "--outdir", draft], {
    encoding: "utf8",
  });
  if (built.status !== 0) {
    rmSync(draft, { recursive: true, force: true });
    throw new Error(`build failed:\n${built.stdout}${built.stderr}`);
  }
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another test process was faster; its build is the same.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(program)) throw error;
  }
  return program;
}

let found: string | undefined;

/** Path of the program's entry file, fresh for this test run. HERMES_TEST_PROGRAM names another one to test. */
export function hermesProgram(): string {
  found ??= process.env.HERMES_TEST_PROGRAM ?? findOrBuild();
  return found;
}

export interface HermesRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The result of the program. The environment is only PATH, HERMES_HOME, HOME and what `env` adds. */
export function runHermes(
  args: readonly string[],
  options: { home: string; env?: { [name: string]: string }; stdin?: string; cwd?: string; uid?: number },
): Promise<HermesRun> {
  const program = hermesProgram();
  const cwd = options.cwd ?? options.home;
  const fixed = { PATH: process.env.PATH ?? "", HOME: options.home, HERMES_HOME: options.home };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd,
      env: { ...fixed, ...workspaceEnv(options.home, cwd), ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      stderr += chunk;
    });
    // The program may end without reading its input.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.stdin ?? "");
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}
