// Writes and reads tar.gz archives of plain files, streamed. Links and other kinds of entries are refused when reading.
import { createReadStream, createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";

const BLOCK = 512;

export interface TarSource {
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly mode: number;
}

export interface TarEntry {
  readonly name: string;
  readonly size: number;
  readonly mode: number;
  /** Must be consumed before the next entry. */
  readonly content: AsyncIterable<Buffer>;
}

function header(name: string, size: number, mode: number, type: string): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name.slice(0, 100), 0, "latin1");
  block.write(`${mode.toString(8).padStart(7, "0")}\0`, 100);
  block.write("0000000\u00000000000\0", 108);
  block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  block.write("00000000000\0        ", 136);
  block.write(type, 156);
  block.write("ustar\u000000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

const padding = (size: number) => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);

/** Long and non-ASCII names and large sizes are in an extended header, as POSIX says. */
function extended({ name, size }: TarSource): Buffer[] {
  const fields = [`path=${name}`, `size=${size}`].map((field) => {
    const bytes = Buffer.byteLength(field) + 2;
    let length = bytes + String(bytes).length;
    if (bytes + String(length).length !== length) length = bytes + String(length).length;
    return `${length} ${field}\n`;
  });
  const content = Buffer.from(fields.join(""));
  return [header("././@PaxHeader", content.length, 0o600, "x"), content, padding(content.length)];
}

/** A file that changes its size while it is read makes the archive fail. */
export async function writeTarGz(target: string, files: readonly TarSource[]): Promise<void> {
  async function* blocks(): AsyncGenerator<Buffer> {
    for (const file of files) {
      yield* extended(file);
      yield header(
        file.name.replace(/[^\x20-\x7e]/g, "_").slice(-100),
        Math.min(file.size, 0o77777777777),
        file.mode,
        "0",
      );
      let read = 0;
      for await (const chunk of createReadStream(file.path) as AsyncIterable<Buffer>) {
        read += chunk.length;
        yield chunk;
      }
      if (read !== file.size) throw new Error(`${file.path} changed while it was copied; try again`);
      yield padding(file.size);
    }
    yield Buffer.alloc(BLOCK * 2);
  }
  await pipeline(blocks(), createGzip(), createWriteStream(target, { mode: 0o600, flags: "wx" }));
}

class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** At most `limit` bytes; empty at the end. */
  async some(limit: number): Promise<Buffer> {
    if (this.#rest.length === 0) {
      const next = await this.#source.next();
      if (next.done) return Buffer.alloc(0);
      this.#rest = next.value;
    }
    const taken = this.#rest.subarray(0, limit);
    this.#rest = this.#rest.subarray(taken.length);
    return taken;
  }

  async exactly(size: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let left = size;
    while (left > 0) {
      const part = await this.some(left);
      if (part.length === 0) throw new Error("the archive is incomplete");
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }
}

const text = (block: Buffer, from: number, to: number) => block.toString("utf8", from, to).replace(/\0[\s\S]*$/, "");

function readFields(content: Buffer): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of content.toString("utf8").split("\n")) {
    const match = /^\d+ ([^=]+)=([\s\S]*)$/.exec(line);
    if (match) fields.set(match[1] ?? "", match[2] ?? "");
  }
  return fields;
}

/** The files of the archive in order. Throws for links, devices and damaged archives. */
export async function* readTarGz(path: string): AsyncGenerator<TarEntry> {
  const gunzip = createGunzip();
  const input = createReadStream(path);
  input.on("error", (error) => gunzip.destroy(error));
  const reader = new ByteReader(input.pipe(gunzip) as AsyncIterable<Buffer>);
  let fields = new Map<string, string>();
  let longName = "";
  for (;;) {
    const block = await reader.exactly(BLOCK);
    if (block.every((byte) => byte === 0)) return;
    const type = text(block, 156, 157) || "0";
    const size = Number(fields.get("size") ?? Number.parseInt(text(block, 124, 136).trim() || "0", 8));
    if (!Number.isSafeInteger(size) || size < 0) throw new Error("the archive is damaged");
    if (type === "x" || type === "g" || type === "L") {
      const content = await reader.exactly(size);
      await reader.exactly(padding(size).length);
      if (type === "x") fields = readFields(content);
      if (type === "L") longName = text(content, 0, content.length);
      continue;
    }
    const prefix = text(block, 345, 500);
    const short = text(block, 0, 100);
    const name = fields.get("path") ?? (longName || (prefix ? `${prefix}/${short}` : short));
    fields = new Map();
    longName = "";
    if (type === "5") continue;
    if (type !== "0" && type !== "7") throw new Error(`the archive contains a link or device: ${name}`);
    let left = size;
    const content = async function* () {
      while (left > 0) {
        const part = await reader.some(left);
        if (part.length === 0) throw new Error("the archive is incomplete");
        left -= part.length;
        yield part;
      }
    };
    const entry = content();
    yield { name, size, mode: Number.parseInt(text(block, 100, 108).trim() || "600", 8), content: entry };
    while (left > 0) left -= (await reader.exactly(Math.min(left, 65_536))).length;
    await reader.exactly(padding(size).length);
  }
}
