// Runs the chunks of the built program with V8's code cache: compiling them would take half of the start-up time.
// Built as dist/launch.cjs; nothing in the sources imports it.
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";

/** Changes with every build: V8 itself compares only the length of a source. */
declare const __HERMES_BUILD__: string;

interface Chunk {
  exports: { readonly [name: string]: unknown };
}

const folder = import.meta.dirname;
const chunksFolder = join(folder, "chunks");
/** The built file is CommonJS; `createRequire` would load the whole of node:module. */
declare const require: (specifier: string) => unknown;
const OPENING = "(function (exports, require, module, __meta, __import, __require) {\n";

/** A cached chunk: its source and V8's compiled code. */
interface Compiled {
  readonly source: string;
  readonly data: Buffer;
}

/** The cache file: length of the index, the index as JSON, then code and source of each chunk. */
interface Cache {
  readonly file: number;
  readonly index: ReadonlyMap<string, readonly [at: number, data: number, source: number]>;
}

const chunks = new Map<string, Chunk>();
const scripts = new Map<string, { readonly source: string; readonly script: Script }>();
let cache: Cache | null | undefined;
let uncached = 0;

/** Beside the program, else in the cache folder of the user: never where another user could write. */
function cacheFiles(): string[] {
  const name = `code-${__HERMES_BUILD__}-${cachedDataVersionTag()}.bin`;
  return [join(folder, "cache", name), join(homedir(), ".cache", "hermes-ts", name)];
}

/** Reused for every chunk: V8 needs it only until the script exists. The code comes first because V8 requires alignment. */
let scratch = Buffer.allocUnsafeSlow(512 * 1024);

function readAt(file: number, at: number, size: number): Buffer {
  if (size > scratch.length) scratch = Buffer.allocUnsafeSlow(size);
  if (readSync(file, scratch, 0, size, at) !== size) throw new Error("the code cache is incomplete");
  return scratch.subarray(0, size);
}

/** Throws when the file is incomplete. */
function openCache(path: string): Cache {
  const file = openSync(path, "r");
  try {
    const start = 4 + readAt(file, 0, 4).readUInt32LE(0);
    const sizes = JSON.parse(readAt(file, 4, start - 4).toString("latin1")) as [string, number, number][];
    const index = new Map<string, readonly [number, number, number]>();
    let at = start;
    for (const [name, data, source] of sizes) {
      index.set(name, [at, data, source]);
      at += data + source;
    }
    if (at !== fstatSync(file).size) throw new Error("the code cache is incomplete");
    return { file, index };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function findCache(): Cache | null {
  for (const path of cacheFiles()) {
    try {
      return openCache(path);
    } catch {
      // Missing or broken: the sources are compiled.
    }
  }
  return null;
}

function fromCache(name: string): Compiled | undefined {
  if (cache === undefined) cache = findCache();
  const place = cache?.index.get(name);
  if (!cache || !place) return undefined;
  const [at, data, source] = place;
  const bytes = readAt(cache.file, at, data + source);
  return { source: bytes.toString("latin1", data), data: bytes.subarray(0, data) };
}

/** Writes the cache for the next run: what this run compiled and what was cached before. */
function writeCache(): void {
  const parts = new Map<string, Compiled>();
  for (const name of cache?.index.keys() ?? []) {
    const kept = scripts.has(name) ? undefined : fromCache(name);
    if (kept) parts.set(name, { source: kept.source, data: Buffer.from(kept.data) });
  }
  for (const [name, { source, script }] of scripts) parts.set(name, { source, data: script.createCachedData() });
  const sizes = [...parts].map(([name, { source, data }]) => [name, data.length, source.length]);
  const index = Buffer.from(JSON.stringify(sizes), "latin1");
  const length = Buffer.alloc(4);
  length.writeUInt32LE(index.length);
  const bodies = [...parts.values()].flatMap(({ source, data }) => [data, Buffer.from(source, "latin1")]);
  const file = Buffer.concat([length, index, ...bodies]);
  for (const path of cacheFiles()) {
    const draft = `${path}.${process.pid}.tmp`;
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(draft, file);
      renameSync(draft, path);
      return;
    } catch {
      // Not writable: try the next path.
    }
  }
}

function compile(name: string, path: string): Script {
  const known = fromCache(name);
  const source = known?.source ?? `${OPENING}${readFileSync(path, "latin1")}\n})`;
  const script = new Script(source, {
    filename: path,
    lineOffset: -1,
    ...(known ? { cachedData: known.data } : {}),
  });
  if (!known || script.cachedDataRejected) {
    if (uncached === 0) process.once("exit", writeCache);
    uncached++;
  }
  scripts.set(name, { source, script });
  return script;
}

/** Node modules that are expensive to load. None of them is itself a function or a class, so that a proxy works. */
const COSTLY = new Set(
  [
    "child_process",
    "crypto",
    "dns",
    "fs/promises",
    "http",
    "https",
    "net",
    "readline",
    "tls",
    "worker_threads",
    "zlib",
  ].map((name) => `node:${name}`),
);

/** A module that is loaded at first use. */
function lazyModule(specifier: string): unknown {
  let loaded: object | undefined;
  const module = () => {
    loaded ??= require(specifier) as object;
    return loaded;
  };
  return new Proxy(Object.create(null) as object, {
    get: (_, name) => Reflect.get(module(), name),
    has: (_, name) => Reflect.has(module(), name),
    ownKeys: () => Reflect.ownKeys(module()),
    getOwnPropertyDescriptor: (_, name) => {
      const found = Reflect.getOwnPropertyDescriptor(module(), name);
      return found && { ...found, configurable: true };
    },
  });
}

function requireFrom(specifier: string): unknown {
  if (specifier.startsWith("./")) return load(specifier.slice(specifier.lastIndexOf("/") + 1));
  return COSTLY.has(specifier) ? lazyModule(specifier) : require(specifier);
}

/** Runs a chunk once and returns its exports. */
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
  try {
    const run = compile(name, path).runInThisContext();
    run(chunk.exports, requireFrom, chunk, meta, (url: string) => import(url), requireFrom);
  } catch (error) {
    // Remove the incomplete chunk, so that the next load fails with the same error.
    chunks.delete(name);
    throw error;
  }
  return chunk.exports;
}
