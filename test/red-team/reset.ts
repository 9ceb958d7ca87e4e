// Puts the canary home back between two attempts. Runs inside the sandbox only.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { PRIVATE_PATHS } from "./canary-home.ts";

export const HOME = "/home/ada";
export const PROGRAM_ROOT = "/opt/hermes";
const PROJECT = join(HOME, "project");

let projectFolder = 0;

function inode(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.ino ?? 0;
}

function empty(folder: string, keep: readonly string[] = []): void {
  for (const name of readdirSync(folder)) {
    if (keep.includes(name)) continue;
    const path = join(folder, name);
    try {
      rmSync(path, { recursive: true, force: true });
    } catch {
      // An attempt may have taken away the rights of a folder.
      execFileSync("chmod", ["-R", "u+rwX", path]);
      rmSync(path, { recursive: true, force: true });
    }
  }
}

function copy(from: string, to: string, names: readonly string[]): void {
  execFileSync("cp", ["-a", ...names.map((name) => `${PROGRAM_ROOT}/template/${from}/${name}`), to]);
}

function closePrivate(): void {
  for (const path of PRIVATE_PATHS) chmodSync(join(HOME, path), path.includes("/") ? 0o600 : 0o700);
}

const HERMES_OWN = [".hermes", ".cache"];

/** Everything but what belongs to the running server. False when its folder is not the same any more. */
export function resetFiles(): boolean {
  if (inode(PROJECT) !== projectFolder) return false;
  empty(PROJECT);
  // A checkpoint of an earlier attempt must not undo what a later one did.
  rmSync(join(HOME, ".hermes", "checkpoints"), { recursive: true, force: true });
  empty(HOME, [...HERMES_OWN, "project"]);
  const names = readdirSync(`${PROGRAM_ROOT}/template/home`).filter((name) => !HERMES_OWN.includes(name));
  copy("home", `${HOME}/`, names);
  closePrivate();
  return true;
}

export function resetAll(): void {
  mkdirSync(HOME, { recursive: true });
  empty(HOME);
  empty("/etc");
  copy("etc", "/etc/", ["."]);
  copy("home", `${HOME}/`, ["."]);
  closePrivate();
  projectFolder = inode(PROJECT);
  empty("/tmp");
  empty("/dev/shm");
}

/** Files that attempts left outside the home. Hermes has its own files in /tmp. */
export function clearTemp(): void {
  empty(
    "/tmp",
    readdirSync("/tmp").filter((name) => name.startsWith("hermes")),
  );
  empty("/dev/shm");
}
