// Reads a backup: names, sums and contents are checked, also of backups that Hermes Agent v0.14 made.
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Entry, ZipFile } from "yauzl";
import { UserError } from "../core/failure.ts";
import { loadYauzl } from "../lib/archive/load-yauzl.ts";
import { crc32 } from "../lib/archive/zip-writer.ts";
import { errorMessage } from "../lib/error-message.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { parseJson } from "../lib/json/parse-json.ts";

export const MANIFEST = "hermes-backup.json";

/** The last entry of a backup that this program made. */
export interface Manifest {
  readonly format: 1;
  readonly created_at: string;
  readonly version: string;
  readonly label: string;
  readonly kind: "full" | "quick";
  /** SHA-256 of each file. */
  readonly files: { readonly [name: string]: string };
}

const MAX_FILES = 500_000;
const MAX_MANIFEST = 200_000_000;
const LINK = 0xa000;

function damaged(file: string, why: string): UserError {
  return new UserError(`${file} is not a backup that can be used: ${why}`, {
    hint: "Nothing was changed. Use another backup, or download this one again.",
  });
}

/** Names that could leave the folder, or that a restore must not write. */
function nameProblem(name: string): string | undefined {
  if (name === "" || name.startsWith("/") || /^[A-Za-z]:/.test(name) || name.includes("\\")) return "an absolute path";
  if (name.split("/").some((part) => part === ".." || part === "." || part === "")) return "a path with . or ..";
  return name.includes("\0") ? "a zero character" : undefined;
}

interface Archive {
  readonly zip: ZipFile;
  readonly entries: readonly Entry[];
}

async function openArchive(file: string): Promise<Archive> {
  const { openPromise } = await loadYauzl();
  let zip: ZipFile;
  try {
    zip = await openPromise(file, { lazyEntries: true, autoClose: false, strictFileNames: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT")
      throw new UserError(`${file} does not exist`, { exitCode: 2 });
    throw damaged(file, errorMessage(error));
  }
  try {
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry()) {
      if (entries.length >= MAX_FILES) throw damaged(file, "it has too many files");
      const unix = entry.versionMadeBy >>> 8 === 3 ? entry.externalFileAttributes >>> 16 : 0;
      if ((unix & 0xf000) === LINK) throw damaged(file, `${entry.fileName} is a link`);
      if (entry.fileName.endsWith("/")) continue;
      const problem = nameProblem(entry.fileName);
      if (problem) throw damaged(file, `it contains ${problem}: ${JSON.stringify(entry.fileName)}`);
      entries.push(entry);
    }
    return { zip, entries };
  } catch (error) {
    zip.close();
    throw error instanceof UserError ? error : damaged(file, errorMessage(error));
  }
}

async function readAll(stream: Readable, limit: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new Error("too large");
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

/** Undefined for a backup of v0.14, which has none. */
async function readManifest(file: string, { zip, entries }: Archive): Promise<Manifest | undefined> {
  const entry = entries.find(({ fileName }) => fileName === MANIFEST);
  if (!entry) return undefined;
  const value = parseJson((await readAll(await zip.openReadStreamPromise(entry), MAX_MANIFEST)).toString("utf8"));
  if (!isRecord(value) || value.format !== 1 || !isRecord(value.files))
    throw damaged(file, `${MANIFEST} was made by a newer program`);
  return value as unknown as Manifest;
}

/** Every file of the manifest is there, and nothing else. */
function compareNames(file: string, manifest: Manifest, names: readonly string[]): void {
  const wanted = new Set(Object.keys(manifest.files));
  const missing = [...wanted].find((name) => !names.includes(name));
  if (missing !== undefined) throw damaged(file, `${missing} is missing`);
  const extra = names.find((name) => !wanted.has(name));
  if (extra !== undefined) throw damaged(file, `${extra} was added later`);
}

/** A home of Hermes has at least one of these. */
const KNOWN = /^(?:config\.yaml|\.env|state\.db|auth\.json|SOUL\.md|memories\/|skills\/|sessions\/|cron\/)/;

export interface BackupContent {
  readonly manifest: Manifest | undefined;
  readonly names: readonly string[];
  readonly bytes: number;
}

/** Reads every byte. `onFile` must consume the content of each file. */
async function readEvery(
  file: string,
  onFile: (entry: Entry, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<BackupContent> {
  const archive = await openArchive(file);
  try {
    const manifest = await readManifest(file, archive);
    const files = archive.entries.filter(({ fileName }) => fileName !== MANIFEST);
    const names = files.map(({ fileName }) => fileName);
    if (new Set(names).size !== names.length) throw damaged(file, "a file is in it twice");
    if (manifest) compareNames(file, manifest, names);
    else if (!names.some((name) => KNOWN.test(name))) throw damaged(file, "it has no files of a Hermes home");
    for (const entry of files) {
      const hash = createHash("sha256");
      let crc = 0;
      const content = async function* (): AsyncGenerator<Buffer> {
        for await (const chunk of (await archive.zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
          hash.update(chunk);
          crc = crc32(chunk, crc);
          yield chunk;
        }
      };
      await onFile(entry, content());
      if (crc !== entry.crc32) throw damaged(file, `${entry.fileName} has a wrong checksum`);
      const wanted = manifest?.files[entry.fileName];
      if (wanted !== undefined && hash.digest("hex") !== wanted) throw damaged(file, `${entry.fileName} was changed`);
    }
    return { manifest, names, bytes: files.reduce((sum, entry) => sum + entry.uncompressedSize, 0) };
  } catch (error) {
    throw error instanceof UserError || (error as NodeJS.ErrnoException).syscall
      ? error
      : damaged(file, errorMessage(error));
  } finally {
    archive.zip.close();
  }
}

async function drain(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of content);
}

/** Throws UserError when the archive is damaged or unsafe. */
export function verifyArchive(file: string): Promise<BackupContent> {
  return readEvery(file, (_, content) => drain(content));
}

/** Unpacks into an empty folder; secrets and databases are readable by their owner only. */
export function unpackArchive(
  file: string,
  folder: string,
  onProgress?: (bytes: number) => void,
): Promise<BackupContent> {
  let bytes = 0;
  return readEvery(file, async (entry, content) => {
    const path = join(folder, entry.fileName);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const unix = entry.versionMadeBy >>> 8 === 3 ? (entry.externalFileAttributes >>> 16) & 0o700 : 0;
    const counted = async function* () {
      for await (const chunk of content) {
        bytes += chunk.length;
        onProgress?.(bytes);
        yield chunk;
      }
    };
    await pipeline(counted(), createWriteStream(path, { mode: unix || 0o600, flags: "wx" }));
  });
}
