// The sandbox runs as an ordinary user. Where the checkout or Node belongs to root alone, that user gets a copy.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What is tried: the checkout, the folder of its build, and the Node that runs it. */
export interface Program {
  readonly root: string;
  readonly dist: string;
  readonly node: string;
}

const NOBODY = 65_534;

/** Root starts the sandbox as the user `nobody`: an escape would have no rights, and Hermes can create its own sandbox. */
export function identity(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

function isReadable(path: string): boolean {
  return spawnSync("test", ["-r", path], { ...identity(), cwd: "/", stdio: "ignore" }).status === 0;
}

interface Package {
  readonly files?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function packageIn(folder: string): Package {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Package;
}

/** Names of the packages that the program needs at run time, as far as they are installed. */
function needed(root: string, from: Package, found = new Set<string>()): Set<string> {
  for (const name of Object.keys({ ...from.dependencies, ...from.optionalDependencies })) {
    const folder = join(root, "node_modules", name);
    if (found.has(name) || !existsSync(folder)) continue;
    found.add(name);
    needed(root, packageIn(folder), found);
  }
  return found;
}

function copyProgram(program: Program, folder: string): Program {
  const copy = join(folder, "program-copy");
  mkdirSync(copy);
  const own = packageIn(program.root);
  const names = [
    ...(own.files ?? []),
    "package.json",
    ...[...needed(program.root, own)].map((name) => `node_modules/${name}`),
  ];
  for (const name of names.filter((item) => item !== "dist" && existsSync(join(program.root, item))))
    cpSync(join(program.root, name), join(copy, name), { recursive: true, verbatimSymlinks: true });
  cpSync(program.dist, join(copy, "dist"), { recursive: true });
  return { ...program, root: copy, dist: join(copy, "dist") };
}

/** The program itself, or copies in `folder` of what the sandbox's user could not read. */
export function readableProgram(program: Program, folder: string): Program {
  const readable = [join(program.root, "bin", "hermes"), join(program.dist, "launch.cjs")].every(isReadable);
  const here = readable ? program : copyProgram(program, folder);
  if (isReadable(program.node)) return here;
  const node = join(folder, "node-copy");
  cpSync(program.node, node);
  return { ...here, node };
}
