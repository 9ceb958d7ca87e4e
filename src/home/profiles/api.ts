// Profiles: create, choose, rename, remove, export and import homes under one root.
import { createWriteStream, existsSync, readFileSync, statSync } from "node:fs";
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { UserError } from "../../core/failure.ts";
import { readTarGz, type TarSource, writeTarGz } from "../../lib/archive/tar.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { activeProfile, isProfileName, listProfiles } from "../profile.ts";

const FOLDERS = ["memories", "sessions", "skills", "skins", "logs", "plans", "workspace", "cron", "home"];
/** What a clone copies. */
const CLONED = ["config.yaml", ".env", "SOUL.md", "skills", "memories/MEMORY.md", "memories/USER.md"];
/** Never part of a full clone or an export: state of running processes, and things that belong to the root. */
const RUNTIME =
  /^(?:profiles|backups|state-snapshots|checkpoints|cache|bin|node_modules|hermes-agent|venv|\.worktrees|active_profile|gateway_state\.json|.*\.(?:pid|lock|lease|sock|tmp)|.*\.lock\.db|.*-(?:wal|shm))$/;
const SECRETS = /^(?:\.env|auth\.json)$/;
const DESCRIPTION = "profile.json";

/** Copies a database that other processes may write to. */
export type CopyDatabase = (from: string, to: string) => Promise<void>;

export interface ProfileInfo {
  readonly name: string;
  readonly path: string;
  readonly active: boolean;
  readonly description: string;
  /** Path of the command that starts this profile; null without one. */
  readonly alias: string | null;
}

export interface ProfilePlace {
  /** The root with `profiles/`. */
  readonly root: string;
  /** Folder for commands of profiles: `~/.local/bin`. */
  readonly bin: string;
}

function requireName(name: string): string {
  const lower = name.toLowerCase();
  if (!isProfileName(lower) || lower === "default")
    throw new UserError(`"${name}" cannot be the name of a profile`, {
      hint: "Use up to 64 lower-case letters, digits, - and _; not default.",
      exitCode: 2,
    });
  return lower;
}

function pathOf(root: string, name: string): string {
  return name === "default" ? root : join(root, "profiles", name);
}

/** The path of an existing profile. */
export function requireProfile(root: string, name: string): string {
  const known = listProfiles(root);
  const lower = name.toLowerCase();
  if (known.includes(lower)) return pathOf(root, lower);
  throw new UserError(`there is no profile "${name}"`, {
    hint: `Create it: hermes profile create ${lower}. Profiles: ${known.join(", ")}`,
  });
}

function readDescription(path: string): string {
  try {
    const value = JSON.parse(readFileSync(join(path, DESCRIPTION), "utf8")) as { description?: unknown };
    return typeof value.description === "string" ? value.description : "";
  } catch {
    // No description was written.
    return "";
  }
}

/** Only files that this program made: they name the profile. */
function aliasOf(bin: string, name: string): string | null {
  const path = join(bin, name);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return null;
  return readFileSync(path, "utf8").includes(`hermes -p ${name} `) ? path : null;
}

export function listProfileInfos(place: ProfilePlace): ProfileInfo[] {
  const active = activeProfile(place.root) ?? "default";
  return listProfiles(place.root).map((name) => ({
    name,
    path: pathOf(place.root, name),
    active: name === active,
    description: readDescription(pathOf(place.root, name)),
    alias: aliasOf(place.bin, name),
  }));
}

/** `default` removes the choice. */
export async function chooseProfile(root: string, name: string): Promise<void> {
  requireProfile(root, name);
  const file = join(root, "active_profile");
  if (name.toLowerCase() === "default") await rm(file, { force: true });
  else await atomicWrite(file, `${name.toLowerCase()}\n`, 0o600);
}

export interface CreateOptions {
  readonly clone: "nothing" | "settings" | "everything";
  /** The profile to copy from. */
  readonly from: string;
  readonly noSkills: boolean;
  readonly copyDatabase: CopyDatabase;
}

async function copySettings(from: string, to: string): Promise<void> {
  for (const name of CLONED)
    if (existsSync(join(from, name)))
      await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
}

async function copyEverything(from: string, to: string, copyDatabase: CopyDatabase): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (RUNTIME.test(entry.name) || entry.isSocket() || entry.isFIFO()) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isFile() && entry.name.endsWith(".db")) await copyDatabase(source, target);
    else await cp(source, target, { recursive: true, verbatimSymlinks: true });
  }
}

/** Built beside its place and renamed, so that an interrupted creation leaves no profile. */
async function build(root: string, name: string, fill: (path: string) => Promise<void>): Promise<string> {
  const path = pathOf(root, name);
  if (existsSync(path))
    throw new UserError(`there is already a profile "${name}"`, { hint: `See: hermes profile show ${name}` });
  const draft = join(root, "profiles", `.new-${name}-${process.pid}`);
  await mkdir(draft, { recursive: true, mode: 0o700 });
  try {
    await fill(draft);
    for (const folder of FOLDERS) await mkdir(join(draft, folder), { recursive: true, mode: 0o700 });
    for (const file of [".env", "auth.json", "config.yaml", "state.db"])
      if (existsSync(join(draft, file))) await chmod(join(draft, file), 0o600);
    await rename(draft, path);
    return path;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

/** Returns the path of the new profile. */
export function createProfile(root: string, wanted: string, options: CreateOptions): Promise<string> {
  const name = requireName(wanted);
  const from = requireProfile(root, options.from);
  return build(root, name, async (draft) => {
    if (options.clone === "settings") await copySettings(from, draft);
    if (options.clone === "everything") await copyEverything(from, draft, options.copyDatabase);
    if (options.noSkills) await writeFile(join(draft, ".no-bundled-skills"), "");
  });
}

export async function deleteProfile(place: ProfilePlace, wanted: string): Promise<void> {
  const name = requireName(wanted);
  const path = requireProfile(place.root, name);
  if (activeProfile(place.root) === name) await chooseProfile(place.root, "default");
  await removeAlias(place, name);
  // Renamed first, so that an interrupted removal leaves no half profile.
  const gone = join(place.root, "profiles", `.removed-${name}-${process.pid}`);
  await rename(path, gone);
  await rm(gone, { recursive: true, force: true });
}

export async function renameProfile(place: ProfilePlace, from: string, to: string): Promise<string> {
  const [old, name] = [requireName(from), requireName(to)];
  const path = requireProfile(place.root, old);
  const target = pathOf(place.root, name);
  if (existsSync(target)) throw new UserError(`there is already a profile "${name}"`);
  const active = activeProfile(place.root) === old;
  const alias = aliasOf(place.bin, old) !== null;
  await rename(path, target);
  if (active) await chooseProfile(place.root, name);
  if (alias) {
    await removeAlias(place, old);
    await addAlias(place, name, name);
  }
  return target;
}

/** Writes a command that starts the profile. A file of another program is not replaced. */
export async function addAlias(place: ProfilePlace, profile: string, name: string): Promise<string> {
  requireProfile(place.root, profile);
  const path = join(place.bin, requireName(name));
  if (existsSync(path) && !readFileSync(path, "utf8").includes("exec hermes -p "))
    throw new UserError(`${path} belongs to another program`, {
      hint: "Choose another name: hermes profile alias NAME --name OTHER",
    });
  await mkdir(place.bin, { recursive: true });
  await atomicWrite(path, `#!/bin/sh\nexec hermes -p ${profile} "$@"\n`, 0o755);
  await chmod(path, 0o755);
  return path;
}

export async function removeAlias(place: ProfilePlace, name: string): Promise<boolean> {
  const path = aliasOf(place.bin, name);
  if (path === null) return false;
  await rm(path);
  return true;
}

export async function describeProfile(root: string, name: string, description: string): Promise<void> {
  const path = requireProfile(root, name);
  await atomicWrite(join(path, DESCRIPTION), `${JSON.stringify({ description }, null, 2)}\n`, 0o600);
}

async function exportedFiles(path: string, name: string, isDefault: boolean): Promise<TarSource[]> {
  const found: TarSource[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(path, folder), { withFileTypes: true })) {
      const inner = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (RUNTIME.test(entry.name) || (folder === "" && SECRETS.test(entry.name))) continue;
      if (isDefault && folder === "" && (entry.name === "logs" || entry.name.endsWith(".db"))) continue;
      if (entry.isDirectory()) await walk(inner);
      if (!entry.isFile()) continue;
      const info = await lstat(join(path, inner));
      found.push({ name: `${name}/${inner}`, path: join(path, inner), size: info.size, mode: info.mode & 0o777 });
    }
  };
  await walk("");
  return found;
}

/** Databases are copied first, because other processes may write to them. */
async function settleDatabases(files: readonly TarSource[], folder: string, copy: CopyDatabase): Promise<TarSource[]> {
  return Promise.all(
    files.map(async (file, index) => {
      if (!/^[^/]+\/[^/]+\.db$/.test(file.name) || file.size === 0) return file;
      const path = join(folder, `${index}.db`);
      await copy(file.path, path);
      return { ...file, path, size: (await lstat(path)).size };
    }),
  );
}

/** Without keys. The default profile is exported without databases and logs. Returns the number of files. */
export async function exportProfile(root: string, wanted: string, target: string, copy: CopyDatabase): Promise<number> {
  const path = requireProfile(root, wanted);
  const name = wanted.toLowerCase();
  if (existsSync(target))
    throw new UserError(`${target} exists already`, { hint: "Name another file with -o", exitCode: 2 });
  const files = await exportedFiles(path, name, name === "default");
  const copies = await mkdtemp(join(tmpdir(), "hermes-export-"));
  try {
    await writeTarGz(target, await settleDatabases(files, copies, copy));
  } catch (error) {
    await rm(target, { force: true });
    throw error;
  } finally {
    await rm(copies, { recursive: true, force: true });
  }
  return files.length;
}

function checkName(file: string, entry: string): { top: string; inner: string } {
  const parts = entry.replace(/^\.\//, "").split("/");
  const bad = entry.startsWith("/") || entry.includes("\\") || parts.some((part) => part === ".." || part === "");
  const [top = "", ...rest] = parts;
  if (bad || rest.length === 0)
    throw new UserError(`${file} is not an exported profile: ${JSON.stringify(entry)}`, {
      hint: "Nothing was changed.",
    });
  return { top, inner: rest.join("/") };
}

/** `name` replaces the name in the archive. Returns the name of the new profile. */
export async function importProfile(root: string, file: string, name?: string): Promise<string> {
  if (!existsSync(file)) throw new UserError(`${file} does not exist`, { exitCode: 2 });
  let found = "";
  const fill = async (draft: string) => {
    try {
      for await (const entry of readTarGz(file)) {
        const { top, inner } = checkName(file, entry.name);
        if (found !== "" && top !== found) throw new Error("it has more than one folder at the top");
        found = top;
        const path = join(draft, inner);
        await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
        await pipeline(entry.content, createWriteStream(path, { mode: entry.mode & 0o700 || 0o600, flags: "wx" }));
      }
      if (found === "") throw new Error("it is empty");
    } catch (error) {
      if (error instanceof UserError) throw error;
      throw new UserError(`${file} cannot be imported: ${(error as Error).message}`, { hint: "Nothing was changed." });
    }
  };
  if (name !== undefined) {
    await build(root, requireName(name), fill);
    return name.toLowerCase();
  }
  for await (const entry of readTarGz(file)) {
    const top = checkName(file, entry.name).top;
    await build(root, requireName(top), fill);
    return top;
  }
  throw new UserError(`${file} is empty`, { hint: "Nothing was changed." });
}
