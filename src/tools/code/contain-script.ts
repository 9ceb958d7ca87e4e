// Runs scripts in bubblewrap: they see the workspace and their interpreter, but no other files of the user and no network.
import { mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Availability } from "../../core/tool/tool.ts";
import { isPathInside } from "../../lib/path-inside.ts";
import { bubblewrap, hiddenFolders, type SandboxLayout, workspaceIsWritable } from "../terminal/sandbox-mounts.ts";
import type { Scratch } from "./scratch.ts";

export interface ContainedRun {
  /** The folder that the script may change. */
  readonly workspace: string;
  readonly scratch: Scratch;
  readonly interpreter: string;
  readonly env: { readonly [name: string]: string };
}

export interface Contained {
  /** The program and its arguments, to be followed by the command. */
  readonly wrapper: readonly string[];
  readonly cwd: string;
  /** A note for the model about the sandbox. */
  readonly note?: string | undefined;
}

export interface ScriptContainer {
  available(): Promise<Availability>;
  contain(run: ContainedRun): Contained;
}

export interface ContainerOptions {
  /** The user's home. */
  readonly home: string;
  /** Additional folders to hide, such as the home of Hermes. */
  readonly hidden: readonly string[];
  /** Folders inside hidden ones that stay readable, such as installed skills. */
  readonly readable: readonly string[];
  readonly env: { readonly [name: string]: string };
}

/** Tool chains in the home, in addition to those that every sandboxed command sees. */
const TOOL_CHAINS = [
  ".asdf/installs",
  ".asdf/shims",
  ".local/share/mise/installs",
  ".local/share/uv/python",
  "miniconda3",
  "anaconda3",
  "miniforge3",
];

const HIDDEN_WORKSPACE =
  "The folder of this conversation contains your home or the home of Hermes, so scripts cannot see it; this one ran in an empty folder. Use read_file, write_file and terminal from the script, or start Hermes in a project folder.";

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

function readablePaths(options: ContainerOptions, run: ContainedRun, layout: SandboxLayout): string[] {
  const active = [run.env.VIRTUAL_ENV, run.env.CONDA_PREFIX].filter((folder) => folder !== undefined && folder !== "");
  const wanted = [
    ...options.readable,
    ...TOOL_CHAINS.map((name) => join(options.home, name)),
    ...interpreterFolders(run.interpreter),
    ...active.flatMap((folder) => interpreterFolders(join(folder as string, "bin", "python"))),
  ];
  const hidden = [...hiddenFolders(layout), "/tmp", "/run"];
  return wanted.filter((path) => path !== options.home && hidden.some((folder) => isPathInside(path, folder)));
}

/** The sandbox of `execute_code`, where bubblewrap works. */
export function scriptContainer(options: ContainerOptions): ScriptContainer {
  let checked: Promise<Availability> | undefined;
  return {
    available: () => {
      checked ??= import("../terminal/sandbox.ts").then(({ sandboxAvailable }) => sandboxAvailable(options.env));
      return checked;
    },
    contain: (run) => {
      const temp = join(run.scratch.dir, "tmp");
      mkdirSync(temp, { mode: 0o700 });
      const layout: SandboxLayout = {
        workspace: resolveLinks(run.workspace),
        home: options.home,
        hidden: options.hidden,
        temp,
        network: false,
        path: options.env.PATH ?? "",
      };
      const usable = workspaceIsWritable(layout);
      const inside = isPathInside(resolveLinks(run.scratch.cwd), layout.workspace)
        ? resolveLinks(run.scratch.cwd)
        : layout.workspace;
      const cwd = usable ? inside : temp;
      const grants = { read: readablePaths(options, run, layout), write: [] };
      const mounts = bubblewrap(layout, grants, { cwd: usable ? cwd : "/tmp", stateFolder: run.scratch.dir });
      // Checkpoints do not include .git, so a script may not change it.
      const repository = join(layout.workspace, ".git");
      const wrapper = usable ? [...mounts, "--ro-bind-try", repository, repository] : mounts;
      return { wrapper, cwd, note: usable ? undefined : HIDDEN_WORKSPACE };
    },
  };
}
