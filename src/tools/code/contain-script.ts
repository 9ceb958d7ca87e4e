// Runs a script in the container of the conversation: the same files and /tmp as commands see, but no network.
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ConversationContainer } from "../../core/container.ts";
import { isPathInside } from "../../lib/path-inside.ts";
import type { Scratch } from "./scratch.ts";

export interface ContainedScript {
  /** The folder that the script may change; the folders of the conversation when absent. */
  readonly workspace?: string | undefined;
  readonly scratch: Scratch;
  readonly interpreter: string;
  readonly env: { readonly [name: string]: string };
}

export interface ScriptPlace {
  /** The program and its arguments, to be followed by the command. */
  readonly wrapper: readonly string[];
  readonly env: { readonly [name: string]: string };
}

function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The folders that an interpreter needs of its installation. */
function interpreterFolders(path: string): string[] {
  return [...new Set([path, resolveLinks(path)])].flatMap((program) => {
    const folder = dirname(program);
    const prefix = dirname(folder);
    // Shims of version managers start the program from the folder above.
    if (basename(folder) === "shims") return [prefix];
    if (basename(folder) !== "bin") return [program];
    return [folder, join(prefix, "lib"), join(prefix, "lib64"), join(prefix, "pyvenv.cfg")];
  });
}

/** Folders of the interpreter that the container would hide. */
function readablePaths(run: ContainedScript, container: ConversationContainer): string[] {
  const active = [run.env.VIRTUAL_ENV, run.env.CONDA_PREFIX].filter((folder) => folder !== undefined && folder !== "");
  const wanted = [
    ...interpreterFolders(run.interpreter),
    ...active.flatMap((folder) => interpreterFolders(join(folder as string, "bin", "python"))),
  ];
  const home = run.env.HOME;
  return wanted.filter((path) => path !== home && (!container.canRead(path) || isPathInside(path, "/tmp")));
}

export async function containScript(container: ConversationContainer, run: ContainedScript): Promise<ScriptPlace> {
  const { scratch, env } = run;
  const contained = await container.contain({
    cwd: scratch.cwd,
    folders: [scratch.dir],
    readable: readablePaths(run, container),
    network: false,
    roots: run.workspace === undefined ? undefined : [run.workspace],
  });
  const changed = Object.entries({ ...env, ...contained.env });
  return {
    wrapper: contained.wrapper,
    env: Object.fromEntries(changed.filter((pair): pair is [string, string] => pair[1] !== undefined)),
  };
}
