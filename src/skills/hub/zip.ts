// Reads a zip archive with strict limits: yauzl parses the directory and the headers, which must agree and not overlap.
import { promisify } from "node:util";
import { inflateRaw } from "node:zlib";
import type { Entry, ZipFile } from "yauzl";
import { loadYauzl } from "../../lib/archive/load-yauzl.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { RawEntry } from "./bundle.ts";
import { HubRefusal, LIMITS } from "./refusal.ts";

const NO_BYTES = new Uint8Array(0);
const END_RECORD_BYTES = 22;
const ZIP64_FIELD = 1;
const ZIP64_LOCATOR = 0x07064b50;
const ZIP64_LOCATOR_BYTES = 20;
const ZIP64_REFUSED = "is a zip64 archive, which is not supported";

interface Member {
  readonly entry: Entry;
  readonly path: string;
  readonly kind: RawEntry["kind"];
  readonly mode: number | undefined;
}

function refuse(why: string): never {
  throw new HubRefusal(`refused: the zip archive ${why}`);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

export function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ byte) & 0xff] ?? 0);
  return (crc ^ 0xffffffff) >>> 0;
}

function decodeName(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return refuse("has a name that is not UTF-8");
  }
}

/** Archives made on Unix have the type of a file in the upper half of its attributes. */
function readKind(path: string, entry: Entry): { kind: RawEntry["kind"]; mode?: number | undefined } {
  const unix = entry.versionMadeBy >>> 8 === 3 ? entry.externalFileAttributes >>> 16 : 0;
  const type = unix & 0xf000;
  if (type === 0xa000) return { kind: "link" };
  if (type !== 0 && type !== 0x8000 && type !== 0x4000) return { kind: "special" };
  if (path.endsWith("/") || path.endsWith("\\") || type === 0x4000) return { kind: "folder" };
  return unix === 0 ? { kind: "file" } : { kind: "file", mode: unix & 0o7777 };
}

function readMember(entry: Entry): Member {
  if (entry.isEncrypted()) refuse("is encrypted");
  if (entry.extraFields.some(({ id }) => id === ZIP64_FIELD)) refuse(ZIP64_REFUSED);
  const path = decodeName(entry.fileNameRaw);
  const { kind, mode } = readKind(path, entry);
  return { entry, path, kind, mode };
}

/** Checks the sizes that the directory states before anything is unpacked. Unpacking then enforces them. */
function checkSizes(members: readonly Member[]): void {
  const size = members.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0);
  const packed = members.reduce((sum, { entry }) => sum + entry.compressedSize, 0);
  if (size > LIMITS.total) refuse(`unpacks to ${size} bytes; at most ${LIMITS.total}`);
  if (size > LIMITS.ratioFloor && size > packed * LIMITS.ratio)
    refuse(`unpacks to ${Math.round(size / Math.max(packed, 1))} times its size`);
}

/** Where the directory starts. yauzl has checked that the end record is the last part of the archive. */
function directoryStart(archive: Buffer, zip: ZipFile): number {
  const at = archive.length - END_RECORD_BYTES - zip.comment.length;
  const start = archive.readUInt32LE(at + 16);
  const zip64 = at >= ZIP64_LOCATOR_BYTES && archive.readUInt32LE(at - ZIP64_LOCATOR_BYTES) === ZIP64_LOCATOR;
  if (zip64 || start > at) refuse(ZIP64_REFUSED);
  if (archive.readUInt16LE(at + 8) !== archive.readUInt16LE(at + 10)) refuse("has several parts");
  return start;
}

interface Range {
  /** Position of the local header. */
  readonly header: number;
  /** The packed bytes. */
  readonly from: number;
  readonly to: number;
}

/** Where the bytes of each member are, from headers that agree with the directory and do not overlap. */
async function readRanges(zip: ZipFile, members: readonly Member[], limit: number): Promise<Range[]> {
  const ranges: Range[] = [];
  for (const { entry } of members) {
    const header = await zip.readLocalFileHeaderPromise(entry);
    if (!header.fileName.equals(entry.fileNameRaw)) refuse("has inconsistent file names");
    const to = header.fileDataStart + entry.compressedSize;
    if (to > limit) refuse("ends too early");
    ranges.push({ header: entry.relativeOffsetOfLocalHeader, from: header.fileDataStart, to });
  }
  let before = 0;
  for (const range of [...ranges].sort((a, b) => a.header - b.header)) {
    if (range.header < before) refuse("has overlapping files");
    before = range.to;
  }
  return ranges;
}

async function unpack(data: Buffer, { entry, path }: Member): Promise<Uint8Array> {
  const { compressionMethod: method, uncompressedSize: size } = entry;
  if (method !== 0 && method !== 8) refuse("uses a compression method that is not supported");
  let bytes: Uint8Array = data;
  if (method === 8) {
    try {
      bytes = await promisify(inflateRaw)(data, { maxOutputLength: Math.max(1, size) });
    } catch {
      return refuse(`has a file that does not unpack to the stated size ("${path.slice(0, 80)}")`);
    }
  }
  if (bytes.length !== size || crc32(bytes) !== entry.crc32) refuse("has a file with a wrong size or checksum");
  return bytes;
}

async function readMembers(archive: Buffer): Promise<RawEntry[]> {
  const { fromBufferPromise } = await loadYauzl();
  // Names stay bytes: their encoding and safety are checked here and in bundle.ts. Reading headers needs the file open.
  const zip = await fromBufferPromise(archive, { decodeStrings: false, autoClose: false });
  try {
    if (zip.entryCount > LIMITS.files * 4) refuse("has too many entries");
    const start = directoryStart(archive, zip);
    const members: Member[] = [];
    for await (const entry of zip.eachEntry()) members.push(readMember(entry));
    checkSizes(members);
    const ranges = await readRanges(zip, members, start);
    const entries: RawEntry[] = [];
    for (const [index, member] of members.entries()) {
      const { path, kind, mode } = member;
      const data = archive.subarray(ranges[index]?.from, ranges[index]?.to);
      const bytes = kind === "file" ? await unpack(data, member) : NO_BYTES;
      entries.push({ path, kind, bytes, mode });
    }
    return entries;
  } finally {
    zip.close();
  }
}

/** Throws HubRefusal for an archive that is damaged, ambiguous or beyond the limits. */
export async function readZip(packed: Uint8Array): Promise<RawEntry[]> {
  const archive = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  try {
    return await readMembers(archive);
  } catch (error) {
    if (error instanceof HubRefusal) throw error;
    return refuse(`is damaged: ${errorMessage(error)}`);
  }
}
