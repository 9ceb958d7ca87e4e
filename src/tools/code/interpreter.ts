// Finds a Python interpreter: of the active environment, of the project, or on the search path.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { isExecutable, whichAll } from "../../lib/which.ts";

type Env = { readonly [name: string]: string | undefined };

const CHECK_MS = 5_000;
const versions = new Map<string, Promise<boolean>>();

/** Existing candidates, best first, without running them. In strict mode only those on the search path. */
export function pythonCandidates(env: Env, cwd: string, mode: "project" | "strict"): string[] {
  const active = [env.VIRTUAL_ENV, env.CONDA_PREFIX].filter((folder) => folder !== undefined && folder !== "");
  const project = mode === "strict" ? [] : [...active, join(cwd, ".venv"), join(cwd, "venv")];
  const inside = project.map((folder) => join(folder as string, "bin", "python"));
  return [...new Set([...inside.filter(isExecutable), ...whichAll("python3", env.PATH)])];
}

/** True when it starts and is Python 3.8 or newer. Checked once per process. */
function works(path: string, env: Env): Promise<boolean> {
  const known = versions.get(path);
  if (known) return known;
  const checking = new Promise<boolean>((resolve) => {
    const test = "import sys; sys.exit(0 if sys.version_info >= (3, 8) else 1)";
    // Shims of version managers are scripts that need PATH and HOME.
    const minimal = { PATH: env.PATH, HOME: env.HOME };
    execFile(path, ["-I", "-c", test], { timeout: CHECK_MS, env: minimal }, (error) => resolve(error === null));
  });
  versions.set(path, checking);
  return checking;
}

export async function firstWorking(candidates: readonly string[], env: Env): Promise<string | undefined> {
  for (const path of candidates) if (await works(path, env)) return path;
  return undefined;
}
