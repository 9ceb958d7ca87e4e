// Which Python runs a script: the active environment's, the project's, or the one on the search path.
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

type Env = { readonly [name: string]: string | undefined };

const CHECK_MS = 5_000;
const versions = new Map<string, Promise<boolean>>();

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function onPath(env: Env): string[] {
  return (env.PATH ?? "")
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, "python3"));
}

/** Candidates that exist, best first; nothing is run. In strict mode only the search path counts. */
export function pythonCandidates(env: Env, cwd: string, mode: "project" | "strict"): string[] {
  const active = [env.VIRTUAL_ENV, env.CONDA_PREFIX].filter((folder) => folder !== undefined && folder !== "");
  const project = mode === "strict" ? [] : [...active, join(cwd, ".venv"), join(cwd, "venv")];
  const inside = project.map((folder) => join(folder as string, "bin", "python"));
  return [...new Set([...inside, ...onPath(env)])].filter(executable);
}

/** True when it starts and is Python 3.8 or newer. Asked once per program run. */
function works(path: string, env: Env): Promise<boolean> {
  const known = versions.get(path);
  if (known) return known;
  const asking = new Promise<boolean>((resolve) => {
    const test = "import sys; sys.exit(0 if sys.version_info >= (3, 8) else 1)";
    // Version switchers are scripts themselves: they need the search path and the home.
    const few = { PATH: env.PATH, HOME: env.HOME };
    execFile(path, ["-I", "-c", test], { timeout: CHECK_MS, env: few }, (error) => resolve(error === null));
  });
  versions.set(path, asking);
  return asking;
}

export async function firstWorking(candidates: readonly string[], env: Env): Promise<string | undefined> {
  for (const path of candidates) if (await works(path, env)) return path;
  return undefined;
}
