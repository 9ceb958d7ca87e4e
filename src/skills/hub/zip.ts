// Reads a zip archive with strict limits: the central directory and the local headers must agree, nothing may overlap.
import { promisify } from "node:util";
import { inflateRaw } from "node:zlib";
import type { RawEntry } from "./bundle.ts";
import { HubRefusal, LIMITS } from "./refusal.ts";

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const NO_BYTES = new Uint8Array(0);

interface Member {
  readonly path: string;
  readonly kind: RawEntry["kind"];
  readonly mode: number | undefined;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly local: number;
  readonly name: Buffer;
}

function broken(why: string): never {
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

function findEnd(archive: Buffer): number {
  const last = archive.length - 22;
  for (let at = last; at >= Math.max(0, last - 0xffff); at--)
    if (archive.readUInt32LE(at) === END && at + 22 + archive.readUInt16LE(at + 20) === archive.length) return at;
  return broken("has no directory; it may be damaged");
}

function decodeName(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return broken("has a name that is not UTF-8");
  }
}

/** Unix archives store the file type in the upper half of the attributes. */
function entryKind(
  path: string,
  madeBy: number,
  attributes: number,
): { kind: RawEntry["kind"]; mode?: number | undefined } {
  const unix = madeBy >>> 8 === 3 ? attributes >>> 16 : 0;
  const type = unix & 0xf000;
  if (type === 0xa000) return { kind: "link" };
  if (type !== 0 && type !== 0x8000 && type !== 0x4000) return { kind: "special" };
  if (path.endsWith("/") || path.endsWith("\\") || type === 0x4000) return { kind: "folder" };
  return unix === 0 ? { kind: "file" } : { kind: "file", mode: unix & 0o7777 };
}

function memberAt(archive: Buffer, at: number): { member: Member; next: number } {
  if (at + 46 > archive.length || archive.readUInt32LE(at) !== CENTRAL) broken("has a damaged directory");
  const flags = archive.readUInt16LE(at + 8);
  const nameEnd = at + 46 + archive.readUInt16LE(at + 28);
  const next = nameEnd + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  if (next > archive.length) broken("has a damaged directory");
  if ((flags & 0x41) !== 0) broken("is encrypted");
  const name = archive.subarray(at + 46, nameEnd);
  const path = decodeName(name);
  const { kind, mode } = entryKind(path, archive.readUInt16LE(at + 4), archive.readUInt32LE(at + 38));
  const member: Member = {
    path,
    kind,
    mode,
    name,
    method: archive.readUInt16LE(at + 10),
    crc: archive.readUInt32LE(at + 16),
    packed: archive.readUInt32LE(at + 20),
    size: archive.readUInt32LE(at + 24),
    local: archive.readUInt32LE(at + 42),
  };
  if (member.packed === 0xffffffff || member.size === 0xffffffff || member.local === 0xffffffff)
    broken("is a zip64 archive, which is not supported");
  return { member, next };
}

function directory(archive: Buffer): { members: Member[]; start: number } {
  const end = findEnd(archive);
  const count = archive.readUInt16LE(end + 10);
  const start = archive.readUInt32LE(end + 16);
  if (archive.readUInt16LE(end + 4) !== 0 || archive.readUInt16LE(end + 8) !== count) broken("has several parts");
  if (count === 0xffff || start > end) broken("is a zip64 archive, which is not supported");
  if (count > LIMITS.files * 4) broken("has too many entries");
  const members: Member[] = [];
  let at = start;
  for (let index = 0; index < count; index++) {
    const { member, next } = memberAt(archive, at);
    members.push(member);
    at = next;
  }
  return { members, start };
}

/** Checks the declared sizes before unpacking; unpacking then enforces them. */
function checkDeclaredSizes(members: readonly Member[]): void {
  const size = members.reduce((sum, member) => sum + member.size, 0);
  const packed = members.reduce((sum, member) => sum + member.packed, 0);
  if (size > LIMITS.total) broken(`unpacks to ${size} bytes; at most ${LIMITS.total}`);
  if (size > LIMITS.ratioFloor && size > packed * LIMITS.ratio)
    broken(`unpacks to ${Math.round(size / Math.max(packed, 1))} times its size`);
}

function dataRange(archive: Buffer, member: Member, limit: number): { from: number; to: number } {
  const at = member.local;
  if (at + 30 > limit || archive.readUInt32LE(at) !== LOCAL) broken("has a damaged header");
  const nameEnd = at + 30 + archive.readUInt16LE(at + 26);
  if (!archive.subarray(at + 30, nameEnd).equals(member.name)) broken("has inconsistent file names");
  const from = nameEnd + archive.readUInt16LE(at + 28);
  if (from + member.packed > limit) broken("ends too early");
  return { from, to: from + member.packed };
}

async function unpack(data: Buffer, member: Member): Promise<Uint8Array> {
  if (member.method !== 0 && member.method !== 8) broken("uses an unsupported compression method");
  let bytes: Uint8Array = data;
  if (member.method === 8) {
    try {
      bytes = await promisify(inflateRaw)(data, { maxOutputLength: Math.max(1, member.size) });
    } catch {
      return broken(`does not match its declared size or checksum ("${member.path.slice(0, 80)}")`);
    }
  }
  if (bytes.length !== member.size || crc32(bytes) !== member.crc)
    broken("does not match its declared size or checksum");
  return bytes;
}

export async function readZip(packed: Uint8Array): Promise<RawEntry[]> {
  const archive = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  if (archive.length < 22) broken("is too short");
  const { members, start } = directory(archive);
  checkDeclaredSizes(members);
  const ranges = members.map((member) => ({ member, ...dataRange(archive, member, start) }));
  const ordered = [...ranges].sort((a, b) => a.member.local - b.member.local);
  ordered.forEach((range, index) => {
    const before = ordered[index - 1];
    if (before && range.member.local < before.to) broken("has overlapping files");
  });
  const entries: RawEntry[] = [];
  for (const { member, from, to } of ranges) {
    const bytes = member.kind === "file" ? await unpack(archive.subarray(from, to), member) : NO_BYTES;
    const { path, kind, mode } = member;
    entries.push({ path, kind, bytes, mode });
  }
  return entries;
}
