// Searches files for text or by name: query and result types, and the implementation with ripgrep.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { importModule } from "../../lib/import-module.ts";

const TIMEOUT_MS = 60_000;
/** The search stops after this many lines beyond the page. */
const MAX_COUNTED = 20_000;

export type SearchQuery =
  | { readonly kind: "names"; readonly glob: string }
  | {
      readonly kind: "content";
      readonly pattern: string;
      /** A file or a folder, absolute or relative to the folder of the search. */
      readonly where: string;
      readonly fileGlob?: string | undefined;
      readonly mode: "content" | "files_only" | "count";
      readonly context: number;
    };

export interface SearchPage {
  readonly offset: number;
  readonly limit: number;
  readonly signal: AbortSignal;
  /** True for a match, false for a line of context. */
  counts(line: string): boolean;
  /** Whether lines of this file may be shown; called for each line. Without it all may. */
  readonly accepts?: ((file: string) => Promise<boolean>) | undefined;
}

/** The path at the start of a result line. */
export function resultPath(line: string): string {
  const cut = line.indexOf("\0");
  return cut < 0 ? line : line.slice(0, cut);
}

export interface Lines {
  readonly lines: readonly string[];
  /** All matching lines; a lower bound when `more`, because the search was stopped. */
  readonly total: number;
  readonly more: boolean;
  readonly error: string;
}

/**
 * Result lines: a path for names and files_only, `path\0count` for count, `path\0line:text` for a match and
 * `path\0line-text` for context.
 */
export type Searcher = (query: SearchQuery, folder: string, page: SearchPage) => Promise<Lines>;

/** Collects the lines of one page and counts the others. */
export class PageCollector {
  readonly lines: string[] = [];
  readonly #page: SearchPage;
  total = 0;

  constructor(page: SearchPage) {
    this.#page = page;
  }

  /** False when the search should stop. */
  push(line: string): boolean {
    const { offset, limit } = this.#page;
    const counted = this.#page.counts(line);
    if (counted) this.total++;
    const inPage = counted ? this.total > offset : this.total >= offset;
    if (inPage && this.total <= offset + limit) this.lines.push(line);
    return !this.full;
  }

  get full(): boolean {
    return this.total >= this.#page.offset + this.#page.limit + MAX_COUNTED;
  }
}

function ripgrepArgs(query: SearchQuery): string[] {
  if (query.kind === "names")
    return ["--no-config", "--files", "--hidden", "--glob", "!.git", "--iglob", query.glob, "--sortr", "modified"];
  const flags = ["--hidden", "--glob", "!.git", "--no-config", "--with-filename", "--no-heading", "--color", "never"];
  if (query.fileGlob) flags.push("--glob", query.fileGlob);
  if (query.mode === "files_only") flags.push("--files-with-matches");
  else if (query.mode === "count") flags.push("--count", "--null");
  else flags.push("--null", "--line-number", "--max-columns", "4000");
  if (query.mode === "content" && query.context > 0) flags.push("--context", String(query.context));
  return [...flags, "--regexp", query.pattern, "--", query.where];
}

export const ripgrepSearch: Searcher = async (query, folder, page) => {
  const { rgPath } = (await importModule("@vscode/ripgrep")) as { readonly rgPath: string };
  const child = spawn(rgPath, ripgrepArgs(query), {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: TIMEOUT_MS,
    signal: page.signal,
  });
  let error = "";
  child.stderr.on("data", (chunk) => (error += chunk));
  const ended = new Promise<string>((resolve) => {
    child.once("error", (failure) => resolve(failure.message));
    child.once("close", () => resolve(""));
  });
  const found = new PageCollector(page);
  for await (const line of createInterface({ input: child.stdout })) {
    if (page.accepts && !(await page.accepts(resultPath(line)))) continue;
    if (found.push(line)) continue;
    child.kill();
    break;
  }
  const failure = await ended;
  return { lines: found.lines, total: found.total, more: found.full, error: failure || error.trim() };
};
