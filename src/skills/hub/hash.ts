// Hashes of a skill: the short content hash of Hermes 0.14, and a full one over names and bytes.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { compareParts, filesInOrder } from "../dir-hash.ts";

export interface Hashed {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface Fingerprint {
  /** `sha256:` and 16 hex digits over the bytes alone, files in the order of their path components. */
  readonly contentHash: string;
  /** `sha256:` and 64 hex digits over names, sizes and bytes. */
  readonly pin: string;
  /** SHA-256 by path. */
  readonly files: { readonly [path: string]: string };
}

export function fingerprint(given: readonly Hashed[]): Fingerprint {
  const ordered = [...given].sort((a, b) => compareParts(a.path.split("/"), b.path.split("/")));
  const content = createHash("sha256");
  const pin = createHash("sha256");
  const files: [string, string][] = [];
  for (const { path, bytes } of ordered) {
    content.update(bytes);
    pin.update(`${path}\0${bytes.length}\0`).update(bytes);
    files.push([path, createHash("sha256").update(bytes).digest("hex")]);
  }
  return {
    contentHash: `sha256:${content.digest("hex").slice(0, 16)}`,
    pin: `sha256:${pin.digest("hex")}`,
    files: Object.fromEntries(files),
  };
}

export function readFolder(dir: string): Hashed[] {
  return filesInOrder(dir).map((path) => ({ path, bytes: readFileSync(join(dir, path)) }));
}
