// Replaces several files as one step: a journal lists them, so that an interrupted replacement can be undone.
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { isRecord } from "./json/is-record.ts";
import { parseJson } from "./json/parse-json.ts";

/** All paths are relative to the root, so that every move stays on one disk. */
export interface SwitchPlan {
  /** Folder with the new files. */
  readonly fresh: string;
  /** Folder that gets the old files. */
  readonly old: string;
  /** Files that are replaced or created. */
  readonly files: readonly string[];
  /** Files that are only moved away, for example side files of a database. */
  readonly removed: readonly string[];
}

function writeJournal(path: string, plan: SwitchPlan): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, JSON.stringify(plan));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function move(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  renameSync(from, to);
}

/** `onStep` is called before every change on disk, for tests of interruptions. */
export function switchFiles(root: string, journal: string, plan: SwitchPlan, onStep?: () => void): void {
  const path = join(root, journal);
  onStep?.();
  writeJournal(path, plan);
  for (const file of [...plan.removed, ...plan.files]) {
    if (!existsSync(join(root, file))) continue;
    onStep?.();
    move(join(root, file), join(root, plan.old, file));
  }
  for (const file of plan.files) {
    onStep?.();
    move(join(root, plan.fresh, file), join(root, file));
  }
  onStep?.();
  rmSync(path);
}

function isPlan(value: unknown): value is SwitchPlan {
  if (!isRecord(value)) return false;
  return (
    typeof value.fresh === "string" &&
    typeof value.old === "string" &&
    Array.isArray(value.files) &&
    Array.isArray(value.removed)
  );
}

/** Undoes an interrupted replacement: every file is as before. False when there is nothing to undo. */
export function undoSwitch(root: string, journal: string): boolean {
  const path = join(root, journal);
  if (!existsSync(path)) return false;
  const plan = parseJson(readFileSync(path, "utf8"));
  // An incomplete journal means that nothing was moved yet.
  if (isPlan(plan)) {
    for (const file of plan.files) {
      const placed = existsSync(join(root, file)) && !existsSync(join(root, plan.fresh, file));
      if (placed) move(join(root, file), join(root, plan.fresh, file));
    }
    for (const file of [...plan.files, ...plan.removed])
      if (existsSync(join(root, plan.old, file))) move(join(root, plan.old, file), join(root, file));
  }
  rmSync(path, { force: true });
  return true;
}
