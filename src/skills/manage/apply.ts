// Applies a planned change atomically.
import { existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, rmdir, unlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { isPathInside } from "../../lib/path-inside.ts";
import type { Plan } from "./plan.ts";

function modeFor(path: string, text: string): number {
  const present = statSync(path, { throwIfNoEntry: false });
  if (present) return present.mode & 0o777;
  return text.startsWith("#!") ? 0o755 : 0o644;
}

async function writeOne(path: string, text: string): Promise<void> {
  const mode = modeFor(path, text);
  await atomicWrite(path, text, mode);
  await chmod(path, mode);
}

/** Builds a new skill in a temporary folder and moves it into place. */
async function create(plan: Plan): Promise<void> {
  await mkdir(dirname(plan.dir), { recursive: true, mode: 0o700 });
  const draft = await mkdtemp(join(dirname(plan.dir), ".draft-"));
  try {
    for (const [file, text] of plan.files) {
      if (text === null) continue;
      const path = join(draft, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text, { mode: modeFor(path, text) });
    }
    await chmod(draft, 0o755);
    await rename(draft, plan.dir);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

async function removeIfEmpty(dir: string, below: string): Promise<void> {
  const inside = relative(below, dir);
  if (inside === "" || inside.startsWith("..") || !existsSync(dir) || readdirSync(dir).length > 0) return;
  await rmdir(dir);
}

/** For a linked skill, only the link is removed, not its target. */
async function remove(plan: Plan, root: string): Promise<void> {
  if (!isPathInside(plan.dir, root) || plan.dir === root) throw new Error(`${plan.dir} is not a skill's folder`);
  if (lstatSync(plan.dir).isSymbolicLink()) await unlink(plan.dir);
  else {
    const trash = join(dirname(plan.dir), `.deleted-${process.pid}-${Date.now()}`);
    await rename(plan.dir, trash);
    await rm(trash, { recursive: true, force: true });
  }
  const category = dirname(plan.dir);
  if (category !== root && existsSync(category)) {
    const left = readdirSync(category);
    if (left.length === 1 && left[0] === "DESCRIPTION.md") await rm(join(category, "DESCRIPTION.md"));
    await removeIfEmpty(category, root);
  }
}

export async function applyPlan(plan: Plan, root: string): Promise<void> {
  if (plan.action === "create") return create(plan);
  if (plan.action === "delete") return remove(plan, root);
  for (const [file, text] of plan.files) {
    const path = join(plan.dir, file);
    if (text !== null) await writeOne(path, text);
    else {
      await rm(path, { force: true });
      await removeIfEmpty(dirname(path), plan.dir);
    }
  }
}
