// Caches which texts an earlier run found clean: project instructions are read at every start and rarely change.
// Stores hashes, valid for one build only, because a newer build may have more rules. Suspicious texts are not cached.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Scan } from "../core/scan.ts";
import { atomicWrite } from "../lib/atomic-write.ts";

/** Scanning a shorter text is faster than looking it up. */
const MIN_LENGTH = 1000;
const MAX_ENTRIES = 200;

export interface CleanTextsOptions {
  readonly path: string;
  readonly build: string;
  /** Texts from these sources are not cached, because they rarely repeat. */
  isTransient(source: string): boolean;
}

function read(path: string, build: string): string[] {
  try {
    const stored = JSON.parse(readFileSync(path, "utf8")) as { build?: unknown; clean?: unknown };
    return stored.build === build && Array.isArray(stored.clean) ? stored.clean.map(String) : [];
  } catch {
    // The file is missing or incomplete: all texts are scanned again.
    return [];
  }
}

/** Wraps a scan so that texts that an earlier run found clean are not scanned again. */
export function cacheCleanTexts(scan: Scan, options: CleanTextsOptions): Scan {
  const { path, build } = options;
  let clean: string[] | undefined;
  return (text, source) => {
    if (text.length < MIN_LENGTH || options.isTransient(source)) return scan(text, source);
    clean ??= read(path, build);
    const hash = createHash("sha256").update(text).digest("hex");
    if (clean.includes(hash)) return { text, findings: [] };
    const result = scan(text, source);
    if (result.findings.length === 0) {
      clean = [...clean, hash].slice(-MAX_ENTRIES);
      // Best effort: when the cache cannot be written, the next run scans again.
      void atomicWrite(path, JSON.stringify({ build, clean })).catch(() => undefined);
    }
    return result;
  };
}
