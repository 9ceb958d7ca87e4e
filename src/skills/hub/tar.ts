// Reads a tar archive with strict limits. Entries other than files and folders are reported by type.
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { RawEntry } from "./bundle.ts";
import { HubRefusal, LIMITS } from "./refusal.ts";

const BLOCK = 512;
const NO_BYTES = new Uint8Array(0);

function broken(why: string): never {
  throw new HubRefusal(`refused: the tar archive ${why}`);
}

function textAt(header: Buffer, from: number, length: number): string {
  const bytes = header.subarray(from, from + length);
  const end = bytes.indexOf(0);
  return decode(end < 0 ? bytes : bytes.subarray(0, end));
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return broken("has a name that is not UTF-8");
  }
}

function octalAt(header: Buffer, from: number, length: number): number {
  const text = header
    .toString("latin1", from, from + length)
    .replaceAll("\0", " ")
    .trim();
  if (text === "") return 0;
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : broken("has an invalid number");
}

function checkSum(header: Buffer): void {
  let sum = 0;
  for (let index = 0; index < BLOCK; index++) sum += index >= 148 && index < 156 ? 32 : (header[index] ?? 0);
  if (sum !== octalAt(header, 148, 8)) broken("has a damaged header");
}

/** The `path` of a pax header; a `size` is refused, because it would override the checked one. */
function paxPath(body: Buffer): string | undefined {
  let path: string | undefined;
  let at = 0;
  while (at < body.length) {
    const space = body.indexOf(32, at);
    const length = Number(body.toString("latin1", at, space));
    if (space < 0 || !Number.isInteger(length) || length < 5 || at + length > body.length)
      broken("has a bad pax header");
    const record = decode(body.subarray(space + 1, at + length - 1));
    const cut = record.indexOf("=");
    const key = record.slice(0, cut);
    if (key === "size" || key.startsWith("GNU.sparse")) broken("has sparse or oversized files");
    if (key === "path") path = record.slice(cut + 1);
    at += length;
  }
  return path;
}

function entryKind(type: string): RawEntry["kind"] {
  if (type === "0" || type === "\0" || type === "7") return "file";
  if (type === "5") return "folder";
  return type === "1" || type === "2" ? "link" : "special";
}

function headerName(header: Buffer): string {
  const name = textAt(header, 0, 100);
  const prefix = header.toString("latin1", 257, 262) === "ustar" ? textAt(header, 345, 155) : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

export function readTar(archive: Buffer): RawEntry[] {
  const entries: RawEntry[] = [];
  let longName: string | undefined;
  let at = 0;
  for (;;) {
    if (at + BLOCK > archive.length) broken("ends too early");
    const header = archive.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return entries;
    checkSum(header);
    const size = octalAt(header, 124, 12);
    const type = String.fromCharCode(header[156] ?? 0);
    const start = at + BLOCK;
    if (start + size > archive.length) broken("ends too early");
    const body = archive.subarray(start, start + size);
    at = start + Math.ceil(size / BLOCK) * BLOCK;
    // Limit the number of headers: thousands of empty entries take time too.
    if (entries.length > LIMITS.files * 4) broken("has too many entries");
    if (type === "g") continue;
    if (type === "x") longName = paxPath(body) ?? longName;
    else if (type === "L") longName = textAt(body, 0, body.length);
    else {
      const kind = entryKind(type);
      const path = longName ?? headerName(header);
      longName = undefined;
      entries.push({ path, kind, bytes: kind === "file" ? body : NO_BYTES, mode: octalAt(header, 100, 8) & 0o7777 });
    }
  }
}

/** Stops unpacking at the limit, so that larger output is never in memory. */
export async function readTarGz(packed: Uint8Array): Promise<RawEntry[]> {
  const most = LIMITS.total + LIMITS.files * 4 * BLOCK;
  let archive: Buffer;
  try {
    archive = await promisify(gunzip)(packed, { maxOutputLength: most });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ERR_BUFFER_TOO_LARGE") broken(`unpacks to more than ${most} bytes`);
    throw new HubRefusal("refused: the file is not a valid gzip archive");
  }
  if (archive.length > LIMITS.ratioFloor && archive.length > packed.length * LIMITS.ratio)
    broken(`unpacks to ${Math.round(archive.length / packed.length)} times its size`);
  return readTar(archive);
}
