// Runs the built program from its chunks, with V8's code cache: compiling the sources would be half of a start.
// Built as dist/launch.cjs; nothing in the sources imports it.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";

/** Changes with every build: V8 itself compares no more than the length of a source. */
declare const __HERMES_BUILD__: string;

interface Chunk {
  exports: { readonly [name: string]: unknown };
}

const folder = import.meta.dirname;
const chunksFolder = join(folder, "chunks");
/** The built file is CommonJS; `createRequire` would load the whole of node:module. */
declare const require: (specifier: string) => unknown;
const OPENING = "(function (exports, require, module, __meta, __import, __require) {\n";

const chunks = new Map<string, Chunk>();
const scripts = new Map<string, Script>();
let kept: Map<string, Buffer> | undefined;
let uncached = 0;

/** Beside the program, else in the user's own cache: never where somebody else could put code. */
function cacheFiles(): string[] {
  const name = `code-${__HERMES_BUILD__}-${cachedDataVersionTag()}.bin`;
  return [join(folder, "cache", name), join(homedir(), ".cache", "hermes-ts", name)];
}

/** The file: length of the index, the index as JSON, then the parts; undefined when it is cut off. */
function unpack(file: Buffer): Map<string, Buffer> | undefined {
  const start = 4 + file.readUInt32LE(0);
  const index = JSON.parse(file.toString("latin1", 4, start)) as [name: string, size: number][];
  const parts = new Map<string, Buffer>();
  let at = start;
  for (const [name, size] of index) {
    parts.set(name, file.subarray(at, at + size));
    at += size;
  }
  return at === file.length ? parts : undefined;
}

function pack(parts: ReadonlyMap<string, Buffer>): Buffer {
  const index = Buffer.from(JSON.stringify([...parts].map(([name, part]) => [name, part.length])), "latin1");
  const length = Buffer.alloc(4);
  length.writeUInt32LE(index.length);
  return Buffer.concat([length, index, ...parts.values()]);
}

function readCache(): Map<string, Buffer> {
  for (const path of cacheFiles()) {
    try {
      const parts = unpack(readFileSync(path));
      if (parts) return parts;
    } catch {
      // Missing or broken: the sources are compiled.
    }
  }
  return new Map();
}

/** What this run compiled is kept for the next one, with what was kept before. */
function writeCache(): void {
  const parts = new Map(kept);
  for (const [name, script] of scripts) parts.set(name, script.createCachedData());
  const file = pack(parts);
  for (const path of cacheFiles()) {
    const draft = `${path}.${process.pid}.tmp`;
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(draft, file);
      renameSync(draft, path);
      return;
    } catch {
      // Not writable: the next place, else none.
    }
  }
}

function compile(name: string, path: string): Script {
  kept ??= readCache();
  const cachedData = kept.get(name);
  const script = new Script(`${OPENING}${readFileSync(path, "latin1")}\n})`, {
    filename: path,
    lineOffset: -1,
    ...(cachedData ? { cachedData } : {}),
  });
  if (!cachedData || script.cachedDataRejected) {
    if (uncached === 0) process.once("exit", writeCache);
    uncached++;
  }
  scripts.set(name, script);
  return script;
}

function requireFrom(specifier: string): unknown {
  return specifier.startsWith("./") ? load(specifier.slice(specifier.lastIndexOf("/") + 1)) : require(specifier);
}

/** Runs a chunk once and answers with its exports. */
export function load(name: string): Chunk["exports"] {
  const known = chunks.get(name);
  if (known) return known.exports;
  const chunk: Chunk = { exports: {} };
  chunks.set(name, chunk);
  const path = join(chunksFolder, name);
  const meta = {
    dirname: chunksFolder,
    get url() {
      return pathToFileURL(path).href;
    },
  };
  const run = compile(name, path).runInThisContext();
  run(chunk.exports, requireFrom, chunk, meta, (url: string) => import(url), requireFrom);
  return chunk.exports;
}
