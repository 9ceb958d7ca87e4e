// Creates zip and tar.gz archives, valid and malicious ones.
import { deflateRawSync, gzipSync } from "node:zlib";
import { crc32 } from "../../src/skills/hub/zip.ts";

export interface Packed {
  readonly path: string;
  readonly content?: string | Uint8Array;
  /** Unix type and mode for zip (0o120777 is a link); tar takes `type`. */
  readonly mode?: number;
  /** tar: `0` file, `2` link, `3` device, `5` folder. */
  readonly type?: string;
  readonly link?: string;
  /** zip: a false uncompressed size. */
  readonly claimedSize?: number;
  readonly localName?: string;
}

const toBytes = (content: string | Uint8Array = ""): Buffer => Buffer.from(content as Uint8Array);

export function makeZip(members: readonly Packed[]): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    const raw = toBytes(member.content);
    const packed = deflateRawSync(raw);
    const name = Buffer.from(member.path);
    const localName = Buffer.from(member.localName ?? member.path);
    const size = member.claimedSize ?? raw.length;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(8, 8);
    local.writeUInt32LE(crc32(raw), 14);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt32LE(size, 22);
    local.writeUInt16LE(localName.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(0x0314, 4);
    entry.writeUInt16LE(20, 6);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(crc32(raw), 16);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(size, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(((member.mode ?? 0o100644) << 16) >>> 0, 38);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, localName, packed);
    central.push(entry, name);
    offset += 30 + localName.length + packed.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

export function makeTar(members: readonly Packed[]): Buffer {
  const blocks: Buffer[] = [];
  for (const member of members) {
    const body = toBytes(member.content);
    const header = Buffer.alloc(512);
    header.write(member.path, 0, 100, "utf8");
    header.write(`${(member.mode ?? 0o644).toString(8).padStart(7, "0")}\0`, 100);
    header.write(`${body.length.toString(8).padStart(11, "0")}\0`, 124);
    header.write("        ", 148);
    header.write(member.type ?? "0", 156);
    header.write(member.link ?? "", 157, 100, "utf8");
    header.write("ustar\u000000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    blocks.push(header, body, Buffer.alloc((512 - (body.length % 512)) % 512));
  }
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

export function makeTarGz(members: readonly Packed[]): Buffer {
  return gzipSync(makeTar(members));
}
