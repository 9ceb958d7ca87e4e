// The files below a folder, listed by ripgrep in a separate process and kept for a short time.
import { spawn } from "node:child_process";
import { StringDecoder } from "node:string_decoder";
import { importModule } from "../../lib/import-module.ts";

const MAX_FILES = 200_000;
const FRESH_MS = 15_000;

export interface ListedPaths {
  readonly files: readonly string[];
  /** With a slash at the end. */
  readonly folders: readonly string[];
}

const NOTHING: ListedPaths = { files: [], folders: [] };

function foldersOf(files: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const file of files) {
    for (let at = file.lastIndexOf("/"); at > 0; at = file.lastIndexOf("/", at - 1)) {
      const folder = file.slice(0, at + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  return [...folders].sort();
}

async function listFiles(cwd: string): Promise<string[]> {
  const { rgPath } = (await importModule("@vscode/ripgrep")) as { readonly rgPath: string };
  const child = spawn(rgPath, ["--files", "--hidden", "--no-messages", "--glob", "!.git", "--color", "never"], {
    cwd,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const files: string[] = [];
  const decoder = new StringDecoder("utf8");
  let rest = "";
  child.stdout.on("data", (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) files.push(line);
    if (files.length >= MAX_FILES) child.kill();
  });
  await new Promise<void>((resolve) => {
    child.on("close", () => resolve());
    child.on("error", () => resolve());
  });
  return files;
}

export class FileIndex {
  readonly #cwd: () => string;
  #listed: { readonly cwd: string; readonly at: number; readonly paths: ListedPaths } | undefined;
  #running: Promise<ListedPaths> | undefined;

  constructor(cwd: () => string) {
    this.#cwd = cwd;
  }

  /** The paths known now; when they are old, a new listing begins, for the next call. */
  async paths(): Promise<ListedPaths> {
    const cwd = this.#cwd();
    const known = this.#listed?.cwd === cwd ? this.#listed : undefined;
    if (known && Date.now() - known.at < FRESH_MS) return known.paths;
    this.#running ??= this.#list(cwd).finally(() => {
      this.#running = undefined;
    });
    return known ? known.paths : this.#running;
  }

  async #list(cwd: string): Promise<ListedPaths> {
    // Without ripgrep there is no completion of files; everything else works.
    const files = await listFiles(cwd).catch(() => [] as string[]);
    const paths = files.length === 0 ? NOTHING : { files: files.sort(), folders: foldersOf(files) };
    this.#listed = { cwd, at: Date.now(), paths };
    return paths;
  }
}
