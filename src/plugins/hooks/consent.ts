// Which shell hooks the person has allowed: `shell-hooks-allowlist.json`, one entry for each event and command.
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
  /** Null when the command is no file of its own, such as a program on PATH. */
  readonly script_mtime_at_approval: string | null;
}

function allowlistPath(home: Home): string {
  return join(home.path, "shell-hooks-allowlist.json");
}

/** An unreadable list allows nothing. */
export async function readApprovals(home: Home): Promise<readonly Approval[]> {
  const text = await readFile(allowlistPath(home), "utf8").catch(() => "{}");
  const { approvals } = (parseJson(text) ?? {}) as { approvals?: unknown };
  return Array.isArray(approvals)
    ? (approvals as Approval[]).filter((entry) => typeof entry?.command === "string")
    : [];
}

/** When the script behind a command was last changed. */
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

function same(hook: Pick<ShellHook, "event" | "command">) {
  return (entry: Approval) => entry.event === hook.event && entry.command === hook.command;
}

export async function approve(home: Home, hook: ShellHook): Promise<void> {
  const entry: Approval = {
    event: hook.event,
    command: hook.command,
    approved_at: new Date().toISOString(),
    script_mtime_at_approval: scriptTime(hook.command, home),
  };
  await change(home, (before) => [...before.filter((known) => !same(hook)(known)), entry]);
}

/** Takes back every approval of the command; how many there were. */
export function revoke(home: Home, command: string): Promise<number> {
  return change(home, (before) => before.filter((entry) => entry.command !== command));
}

export function isApproved(approvals: readonly Approval[], hook: ShellHook): boolean {
  return approvals.some(same(hook));
}
