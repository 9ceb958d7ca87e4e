// Texts that an earlier run scanned and found clean: a project's instructions are read at every start and change rarely.
// Kept as hashes, for one build only, because the next one may know more tricks. What is suspicious is scanned each time.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Scan } from "../core/scan.ts";
import { atomicWrite } from "../lib/atomic-write.ts";

/** Shorter texts are scanned faster than they are looked up. */
const WORTH_KEEPING = 1000;
const MOST_KEPT = 200;

export interface CleanTextsOptions {
  readonly path: string;
  readonly build: string;
  /** Texts from these sources come once and are not remembered. */
  isPassing(source: string): boolean;
}

function read(path: string, build: string): string[] {
  try {
    const kept = JSON.parse(readFileSync(path, "utf8")) as { build?: unknown; clean?: unknown };
    return kept.build === build && Array.isArray(kept.clean) ? kept.clean.map(String) : [];
  } catch {
    // None, or cut off: everything is scanned once more.
    return [];
  }
}

/** The same scan, which takes the word of an earlier run for a text it found nothing in. */
export function rememberClean(scan: Scan, options: CleanTextsOptions): Scan {
  const { path, build } = options;
  let clean: string[] | undefined;
  return (text, source) => {
    if (text.length < WORTH_KEEPING || options.isPassing(source)) return scan(text, source);
    clean ??= read(path, build);
    const mark = createHash("sha256").update(text).digest("hex");
    if (clean.includes(mark)) return { text, findings: [] };
    const result = scan(text, source);
    if (result.findings.length === 0) {
      clean = [...clean, mark].slice(-MOST_KEPT);
      // Best effort: a home that cannot be written to scans again.
      void atomicWrite(path, JSON.stringify({ build, clean })).catch(() => undefined);
    }
    return result;
  };
}
