// The permissions that hold in a project until they are revoked, in `permissions.json` of the home.
import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { formatPermission, type Permission, parsePermission } from "../core/container.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { withFileLock } from "../lib/file-lock.ts";
import { isRecord } from "../lib/json/is-record.ts";

export interface ProjectPermissions {
  readonly project: string;
  readonly permissions: readonly Permission[];
}

const FILE = "permissions.json";

function realOr(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** A file that cannot be read grants nothing. */
function readAll(home: string): Map<string, string[]> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(join(home, FILE), "utf8"));
  } catch {
    return new Map();
  }
  const projects = isRecord(value) && isRecord(value.projects) ? value.projects : {};
  return new Map(
    Object.entries(projects).map(([project, list]) => [
      project,
      Array.isArray(list) ? list.filter((item): item is string => typeof item === "string") : [],
    ]),
  );
}

async function change(home: string, project: string, edit: (list: readonly string[]) => string[]): Promise<void> {
  const path = join(home, FILE);
  await withFileLock(path, async () => {
    const all = readAll(home);
    const list = edit(all.get(project) ?? []);
    if (list.length > 0) all.set(project, list);
    else all.delete(project);
    const text = JSON.stringify({ version: 1, projects: Object.fromEntries(all) }, null, 2);
    await atomicWrite(path, `${text}\n`, 0o600);
  });
}

export function readPermissions(home: string, workspace: string): Permission[] {
  const list = readAll(home).get(realOr(workspace)) ?? [];
  return list.map(parsePermission).filter((permission) => permission !== undefined);
}

export function listPermissions(home: string): ProjectPermissions[] {
  return [...readAll(home)].map(([project, list]) => ({
    project,
    permissions: list.map(parsePermission).filter((permission) => permission !== undefined),
  }));
}

export function grantPermission(home: string, workspace: string, permission: Permission): Promise<void> {
  const text = formatPermission(permission);
  return change(home, realOr(workspace), (list) => [...list.filter((item) => item !== text), text]);
}

/** False when the project did not have it. */
export async function revokePermission(home: string, workspace: string, permission: Permission): Promise<boolean> {
  const text = formatPermission(permission);
  let found = false;
  await change(home, realOr(workspace), (list) => {
    found = list.includes(text);
    return list.filter((item) => item !== text);
  });
  return found;
}
