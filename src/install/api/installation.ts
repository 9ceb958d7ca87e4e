// Where the program is installed, in which way and in which version.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Home } from "../../core/home.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";

/** `checkout`: a git clone; `npm`: a global npm install; `managed`: another program installs it; `folder`: anything else. */
export type InstallKind = "checkout" | "npm" | "managed" | "folder";

export interface Installation {
  readonly version: string;
  readonly kind: InstallKind;
  /** Folder of package.json. */
  readonly root: string;
  /** Who installs it, for `managed`. */
  readonly manager: string | null;
  /** Name of the package in package.json. */
  readonly packageName: string;
}

/** The nearest folder above that has a package.json. */
function packageRoot(start: string): string {
  let at = start;
  while (!existsSync(join(at, "package.json"))) {
    const up = dirname(at);
    if (up === at) return start;
    at = up;
  }
  return at;
}

/** The manager that a path belongs to; null when the user installed it. */
function managerOf(root: string): string | null {
  if (root.startsWith("/nix/store/")) return "Nix";
  if (/\/(?:Cellar|homebrew)\//.test(root)) return "Homebrew";
  return null;
}

function kindOf(root: string, manager: string | null): InstallKind {
  if (existsSync(join(root, ".git"))) return "checkout";
  if (manager !== null) return "managed";
  return /[\\/]node_modules[\\/]/.test(root) ? "npm" : "folder";
}

/** `start` is a path inside the installation; by default the running program. */
export function describeInstallation(home: Pick<Home, "managedBy">, start: string = import.meta.dirname): Installation {
  const root = packageRoot(start);
  const file = join(root, "package.json");
  const read = existsSync(file) ? parseJson(readFileSync(file, "utf8")) : null;
  const fields = isRecord(read) ? read : {};
  const manager = home.managedBy ?? managerOf(root);
  return {
    version: typeof fields.version === "string" ? fields.version : "unknown",
    packageName: typeof fields.name === "string" ? fields.name : "hermes-ts",
    kind: kindOf(root, manager),
    root,
    manager,
  };
}

const KIND_TEXT: { readonly [kind in InstallKind]: string } = {
  checkout: "git checkout",
  npm: "npm package",
  managed: "managed",
  folder: "folder",
};

export function installationText({ kind, manager, root }: Installation): string {
  return `${KIND_TEXT[kind]}${manager && kind === "managed" ? ` by ${manager}` : ""} at ${root}`;
}
