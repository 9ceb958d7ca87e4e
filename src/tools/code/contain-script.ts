// Scripts run inside bubblewrap: the workspace, the language and nothing else that is the person's; no network.
import { mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Availability } from "../../core/tool.ts";
import {
  bubblewrap,
  hiddenFolders,
  isInside,
  type SandboxPlace,
  workspaceIsWritable,
} from "../terminal/sandbox-mounts.ts";
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
  /** What the model must know about the place. */
  readonly note?: string | undefined;
}

export interface ScriptContainer {
  available(): Promise<Availability>;
  contain(run: ContainedRun): Contained;
}

export interface ContainerOptions {
  /** The person's home. */
  readonly home: string;
  /** More folders to hide: the home of Hermes. */
  readonly hidden: readonly string[];
  /** Folders inside hidden ones that stay readable: installed skills. */
  readonly readable: readonly string[];
  readonly env: { readonly [name: string]: string };
}

/** Tool chains in a home, besides those that every sandboxed command sees. */
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
  "The folder of this conversation holds your home or the home of Hermes, so scripts do not see it: this one ran in an empty folder. Use read_file, write_file and terminal from the script, or start Hermes in a project folder.";

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The folders of an interpreter without the rest of the place in which it is installed. */
function interpreterFolders(path: string): string[] {
  return [...new Set([path, real(path)])].flatMap((program) => {
    const folder = dirname(program);
    const prefix = dirname(folder);
    // Version managers start the real program from their own folder.
    if (basename(folder) === "shims") return [prefix];
    if (basename(folder) !== "bin") return [program];
    return [folder, join(prefix, "lib"), join(prefix, "lib64"), join(prefix, "pyvenv.cfg")];
  });
}

function readableFor(options: ContainerOptions, run: ContainedRun, place: SandboxPlace): string[] {
  const active = [run.env.VIRTUAL_ENV, run.env.CONDA_PREFIX].filter((folder) => folder !== undefined && folder !== "");
  const wanted = [
    ...options.readable,
    ...TOOL_CHAINS.map((name) => join(options.home, name)),
    ...interpreterFolders(run.interpreter),
    ...active.flatMap((folder) => interpreterFolders(join(folder as string, "bin", "python"))),
  ];
  const closed = [...hiddenFolders(place), "/tmp", "/run"];
  return wanted.filter((path) => path !== options.home && closed.some((folder) => isInside(path, folder)));
}

/** Holds scripts of `execute_code` where bubblewrap works. */
export function scriptContainer(options: ContainerOptions): ScriptContainer {
  let asked: Promise<Availability> | undefined;
  return {
    available: () => {
      asked ??= import("../terminal/sandbox.ts").then(({ sandboxAvailable }) => sandboxAvailable(options.env));
      return asked;
    },
    contain: (run) => {
      const temp = join(run.scratch.dir, "tmp");
      mkdirSync(temp, { mode: 0o700 });
      const place: SandboxPlace = {
        workspace: real(run.workspace),
        home: options.home,
        hidden: options.hidden,
        temp,
        network: false,
        path: options.env.PATH ?? "",
      };
      const open = workspaceIsWritable(place);
      const inside = isInside(real(run.scratch.cwd), place.workspace) ? real(run.scratch.cwd) : place.workspace;
      const cwd = open ? inside : temp;
      const grants = { read: readableFor(options, run, place), write: [] };
      const mounts = bubblewrap(place, grants, { cwd: open ? cwd : "/tmp", stateFolder: run.scratch.dir });
      // Checkpoints do not hold the repository itself, so a script may not change it.
      const repository = join(place.workspace, ".git");
      const wrapper = open ? [...mounts, "--ro-bind-try", repository, repository] : mounts;
      return { wrapper, cwd, ...(open ? {} : { note: HIDDEN_WORKSPACE }) };
    },
  };
}
