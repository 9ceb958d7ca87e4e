// Makes a backup: consistent copies of the databases, one zip file, and a check of the result before it gets its name.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UserError } from "../core/failure.ts";
import { ZipWriter } from "../lib/archive/zip-writer.ts";
import { errorMessage } from "../lib/error-message.ts";
import { type BackupFile, backupFiles, isSqlite } from "./files.ts";
import { MANIFEST, type Manifest, verifyArchive } from "./read.ts";

/** What a backup needs from the store. */
export interface DatabaseAccess {
  /** A consistent copy, also while other processes write. */
  copy(from: string, to: string): Promise<void>;
  /** Throws when the file is damaged or not a database. */
  verify(path: string): Promise<void>;
}

export interface BackupOptions {
  readonly home: string;
  /** The zip file; it must not exist. */
  readonly target: string;
  readonly quick: boolean;
  readonly label: string;
  readonly version: string;
  readonly databases: DatabaseAccess;
  readonly now?: Date | undefined;
  /** Bytes that were read of all bytes. */
  onProgress?(done: number, total: number): void;
}

export interface BackupReport {
  readonly file: string;
  readonly files: number;
  readonly bytes: number;
  /** Size of the zip file. */
  readonly packed: number;
}

async function contentPath(file: BackupFile, folder: string, databases: DatabaseAccess): Promise<string> {
  if (!file.database || !(await isSqlite(file.path))) return file.path;
  const copy = join(folder, `${createHash("sha256").update(file.name).digest("hex").slice(0, 16)}.db`);
  try {
    await databases.copy(file.path, copy);
    await databases.verify(copy);
    return copy;
  } catch (error) {
    throw new UserError(`${file.path} cannot be copied: ${errorMessage(error)}`, {
      hint: "No backup was made. Repair it first: hermes doctor, hermes sessions repair.",
    });
  }
}

async function addFiles(zip: ZipWriter, files: readonly BackupFile[], options: BackupOptions, copies: string) {
  const sums: { [name: string]: string } = {};
  const total = files.reduce((sum, file) => sum + file.size, 0);
  let bytes = 0;
  for (const file of files) {
    const path = await contentPath(file, copies, options.databases);
    const hash = createHash("sha256");
    await zip.add({ name: file.name, mode: file.mode, modified: file.modified, content: { path } }, (chunk) => {
      hash.update(chunk);
      bytes += chunk.length;
      options.onProgress?.(Math.min(bytes, total), total);
    });
    sums[file.name] = hash.digest("hex");
    if (path !== file.path) await rm(path, { force: true });
  }
  return { sums, bytes };
}

/** The file appears under its name only when it has been read back and every sum agrees. */
export async function makeBackup(options: BackupOptions): Promise<BackupReport> {
  const { home, target } = options;
  if (existsSync(target))
    throw new UserError(`${target} exists already`, { hint: "Name another file: hermes backup -o FILE", exitCode: 2 });
  const files = await backupFiles(home, options.quick);
  if (files.length === 0) throw new UserError(`there is nothing to back up in ${home}`);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const part = `${target}.part`;
  await rm(part, { force: true });
  const copies = await mkdtemp(join(dirname(target), ".hermes-backup-"));
  const zip = await ZipWriter.create(part);
  try {
    const { sums, bytes } = await addFiles(zip, files, options, copies);
    const now = options.now ?? new Date();
    const manifest: Manifest = {
      format: 1,
      created_at: now.toISOString(),
      version: options.version,
      label: options.label,
      kind: options.quick ? "quick" : "full",
      files: sums,
    };
    const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
    await zip.add({ name: MANIFEST, mode: 0o600, modified: now, content: { bytes: text } });
    await zip.finish();
    await verifyArchive(part);
    await rename(part, target);
    return { file: target, files: files.length, bytes, packed: (await stat(target)).size };
  } catch (error) {
    await zip.abandon().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  } finally {
    await rm(copies, { recursive: true, force: true });
  }
}
