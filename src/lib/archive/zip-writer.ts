// Writes a zip archive to a file: streamed, deflated, with 64-bit sizes where they are needed.
import { createReadStream } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";
import * as zlib from "node:zlib";

export interface ZipSource {
  /** Path inside the archive, with `/`. */
  readonly name: string;
  readonly mode: number;
  readonly modified: Date;
  /** A file on disk, or the bytes themselves. */
  readonly content: { readonly path: string } | { readonly bytes: Uint8Array };
}

interface Written {
  readonly source: ZipSource;
  readonly offset: number;
  readonly crc: number;
  readonly size: number;
  readonly packed: number;
}

const MAX_32 = 0xff_ff_ff_ff;
const VERSION = 45;
const DEFLATE = 8;
const UTF8_NAMES = 0x0800;
const UNIX = 3;
/** The local header has room for 64-bit sizes: they are known only when the content is written. */
const ZIP64_EXTRA = 20;

const TABLE = new Int32Array(256).map((_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crcByTable(data: Uint8Array, start: number): number {
  let value = ~start;
  for (const byte of data) value = (TABLE[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8);
  return ~value >>> 0;
}

/** Node 20.15 and later have it built in. */
export const crc32: (data: Uint8Array, start: number) => number =
  (zlib as { crc32?: (data: Uint8Array, start?: number) => number }).crc32 ?? crcByTable;

function dosTime(date: Date): { time: number; day: number } {
  const year = Math.max(1980, date.getFullYear());
  return {
    time: (date.getHours() << 11) | (date.getMinutes() << 5) | (date.getSeconds() >> 1),
    day: ((year - 1980) << 9) | ((date.getMonth() + 1) << 5) | date.getDate(),
  };
}

function localHeader({ source, crc, size, packed }: Omit<Written, "offset">): Buffer {
  const name = Buffer.from(source.name);
  const { time, day } = dosTime(source.modified);
  const header = Buffer.alloc(30 + name.length + ZIP64_EXTRA);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(UTF8_NAMES, 6);
  header.writeUInt16LE(DEFLATE, 8);
  header.writeUInt16LE(time, 10);
  header.writeUInt16LE(day, 12);
  header.writeUInt32LE(crc, 14);
  header.writeUInt32LE(MAX_32, 18);
  header.writeUInt32LE(MAX_32, 22);
  header.writeUInt16LE(name.length, 26);
  header.writeUInt16LE(ZIP64_EXTRA, 28);
  name.copy(header, 30);
  writeZip64(header, 30 + name.length, [size, packed]);
  return header;
}

function writeZip64(into: Buffer, at: number, values: readonly number[]): void {
  into.writeUInt16LE(1, at);
  into.writeUInt16LE(values.length * 8, at + 2);
  for (const [index, value] of values.entries()) into.writeBigUInt64LE(BigInt(value), at + 4 + index * 8);
}

function directoryEntry({ source, offset, crc, size, packed }: Written): Buffer {
  const name = Buffer.from(source.name);
  const { time, day } = dosTime(source.modified);
  const entry = Buffer.alloc(46 + name.length + 28);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE((UNIX << 8) | VERSION, 4);
  entry.writeUInt16LE(VERSION, 6);
  entry.writeUInt16LE(UTF8_NAMES, 8);
  entry.writeUInt16LE(DEFLATE, 10);
  entry.writeUInt16LE(time, 12);
  entry.writeUInt16LE(day, 14);
  entry.writeUInt32LE(crc, 16);
  entry.writeUInt32LE(MAX_32, 20);
  entry.writeUInt32LE(MAX_32, 24);
  entry.writeUInt16LE(name.length, 28);
  entry.writeUInt16LE(28, 30);
  entry.writeUInt32LE((((0o100000 | (source.mode & 0o777)) << 16) >>> 0) >>> 0, 38);
  entry.writeUInt32LE(MAX_32, 42);
  name.copy(entry, 46);
  writeZip64(entry, 46 + name.length, [size, packed, offset]);
  return entry;
}

function endRecords(count: number, offset: number, length: number): Buffer {
  const end = Buffer.alloc(56 + 20 + 22);
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(VERSION, 12);
  end.writeUInt16LE(VERSION, 14);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(length), 40);
  end.writeBigUInt64LE(BigInt(offset), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(offset + length), 64);
  end.writeUInt32LE(1, 72);
  end.writeUInt32LE(0x06054b50, 76);
  end.writeUInt16LE(Math.min(count, 0xffff), 84);
  end.writeUInt16LE(Math.min(count, 0xffff), 86);
  end.writeUInt32LE(Math.min(length, MAX_32), 88);
  end.writeUInt32LE(Math.min(offset, MAX_32), 92);
  return end;
}

/** An archive that is being written; `finish` must be called, `abandon` closes the file without a directory. */
export class ZipWriter {
  readonly #file: FileHandle;
  readonly #written: Written[] = [];
  #at = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** The file must not exist. */
  static async create(path: string, mode = 0o600): Promise<ZipWriter> {
    return new ZipWriter(await open(path, "wx", mode));
  }

  async #write(bytes: Uint8Array, at = this.#at): Promise<void> {
    await this.#file.write(bytes, 0, bytes.length, at);
    if (at === this.#at) this.#at += bytes.length;
  }

  /** `onBytes` gets the bytes as they are read. */
  async add(source: ZipSource, onBytes?: (chunk: Uint8Array) => void): Promise<void> {
    const offset = this.#at;
    let crc = 0;
    let size = 0;
    let packed = 0;
    await this.#write(localHeader({ source, crc, size, packed }));
    const packing = zlib.createDeflateRaw();
    const { content } = source;
    const input = "path" in content ? createReadStream(content.path) : [content.bytes];
    const reading = (async () => {
      for await (const chunk of input as AsyncIterable<Uint8Array>) {
        crc = crc32(chunk, crc);
        size += chunk.length;
        onBytes?.(chunk);
        if (!packing.write(chunk)) await new Promise((resolve) => packing.once("drain", resolve));
      }
      packing.end();
    })();
    reading.catch((error: Error) => packing.destroy(error));
    for await (const chunk of packing as AsyncIterable<Uint8Array>) {
      packed += chunk.length;
      await this.#write(chunk);
    }
    await reading;
    await this.#write(localHeader({ source, crc, size, packed }), offset);
    this.#written.push({ source, offset, crc, size, packed });
  }

  /** Writes the directory and syncs the file. */
  async finish(): Promise<void> {
    const offset = this.#at;
    for (const entry of this.#written) await this.#write(directoryEntry(entry));
    await this.#write(endRecords(this.#written.length, offset, this.#at - offset));
    await this.#file.sync();
    await this.#file.close();
  }

  async abandon(): Promise<void> {
    await this.#file.close();
  }
}
