// The shell hooks that the user has approved: `shell-hooks-allowlist.json`, one entry per event and command.
import { existsSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Home } from "../../core/home.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { withFileLock } from "../../lib/file-lock.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { type ShellHook, splitCommand } from "./shell-hook.ts";

export interface Approval {
  readonly event: string;
  readonly command: string;
  readonly approved_at: string;
  /** Null when the command names no file, for example a program on PATH. */
  readonly script_mtime_at_approval: string | null;
}

function allowlistPath(home: Home): string {
  return join(home.path, "shell-hooks-allowlist.json");
}

/** Empty when the list cannot be read. */
export async function readApprovals(home: Home): Promise<readonly Approval[]> {
  const text = await readFile(allowlistPath(home), "utf8").catch(() => "{}");
  const { approvals } = (parseJson(text) ?? {}) as { approvals?: unknown };
  return Array.isArray(approvals)
    ? (approvals as Approval[]).filter((entry) => typeof entry?.command === "string")
    : [];
}

/** The modification time of the script of a command. */
export function scriptTime(command: string, home: Home): string | null {
  for (const word of splitCommand(command, home.env.HOME)) {
    const path = resolve(home.path, word);
    if (word.includes("/") && existsSync(path) && statSync(path).isFile()) return statSync(path).mtime.toISOString();
  }
  return null;
}

async function change(home: Home, edit: (before: readonly Approval[]) => readonly Approval[]): Promise<number> {
  const path = allowlistPath(home);
  return withFileLock(path, async () => {
    const before = await readApprovals(home);
    const after = edit(before);
    await atomicWrite(path, `${JSON.stringify({ approvals: after }, null, 2)}\n`);
    return before.length - after.length;
  });
}

function isSame(hook: Pick<ShellHook, "event" | "command">) {
  return (entry: Approval) => entry.event === hook.event && entry.command === hook.command;
}

export async function approve(home: Home, hook: ShellHook): Promise<void> {
  const entry: Approval = {
    event: hook.event,
    command: hook.command,
    approved_at: new Date().toISOString(),
    script_mtime_at_approval: scriptTime(hook.command, home),
  };
  await change(home, (before) => [...before.filter((known) => !isSame(hook)(known)), entry]);
}

/** Removes every approval of the command. The number of removed approvals. */
export function revoke(home: Home, command: string): Promise<number> {
  return change(home, (before) => before.filter((entry) => entry.command !== command));
}

export function isApproved(approvals: readonly Approval[], hook: ShellHook): boolean {
  return approvals.some(isSame(hook));
}
