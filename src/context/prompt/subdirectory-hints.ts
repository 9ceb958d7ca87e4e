// Project instructions of folders that the agent uses later: shown once, with the result of the tool call that names the folder.
import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, extname, isAbsolute, join, resolve, sep } from "node:path";
import { noScan, type Scan } from "../../core/scan.ts";
import { capText } from "./project-files.ts";

const HINT_CHARS = 8_000;
const ANCESTORS = 5;
const NAMES = ["AGENTS.md", "agents.md", "CLAUDE.md", "claude.md", ".cursorrules"];
const PATH_ARGUMENTS = ["path", "file_path", "workdir"];

export interface HintOptions {
  /** The trusted root: hints come from below it only. */
  readonly cwd: string;
  readonly scan?: Scan | undefined;
}

function pathsIn(args: { readonly [key: string]: unknown }): string[] {
  const paths = PATH_ARGUMENTS.map((key) => args[key]).filter((value): value is string => typeof value === "string");
  if (typeof args.command === "string") {
    for (const token of args.command.match(/[^\s"'`|;&<>()]+/g) ?? []) {
      if (token.includes("/") && !token.includes("://") && !token.startsWith("-")) paths.push(token);
    }
  }
  return paths;
}

export class SubdirectoryHints {
  readonly #options: HintOptions;
  readonly #seen = new Set<string>();

  constructor(options: HintOptions) {
    this.#options = options;
    this.#seen.add(resolve(options.cwd));
  }

  /** Text to append to the result of a call with these arguments; empty when nothing new was found. */
  async forCall(args: { readonly [key: string]: unknown }): Promise<string> {
    const root = await realpath(this.#options.cwd).catch(() => resolve(this.#options.cwd));
    const hints: string[] = [];
    for (const path of pathsIn(args)) {
      for (const folder of await this.#listFolders(path, root)) {
        const hint = await this.#readHint(folder);
        if (hint !== undefined) hints.push(hint);
      }
    }
    return hints.map((hint) => `\n\n${hint}`).join("");
  }

  /** The folder of a path and its parents below the root, outermost first; a link that leads out of the root has none. */
  async #listFolders(path: string, root: string): Promise<string[]> {
    const full = isAbsolute(path) ? path : resolve(this.#options.cwd, path);
    const start = extname(basename(full)) === "" ? full : dirname(full);
    const real = await realpath(start).catch(() => realpath(dirname(start)).catch(() => undefined));
    const folders: string[] = [];
    let folder = real;
    while (folder?.startsWith(root + sep) && folders.length <= ANCESTORS) {
      if (!this.#seen.has(folder)) folders.unshift(folder);
      this.#seen.add(folder);
      folder = dirname(folder);
    }
    return folders;
  }

  async #readHint(folder: string): Promise<string | undefined> {
    for (const name of NAMES) {
      const path = join(folder, name);
      const text = (await readFile(path, "utf8").catch(() => "")).trim();
      if (text === "") continue;
      const scan = this.#options.scan ?? noScan;
      return `[Subdirectory context discovered: ${path}]\n${scan(capText(text, name, HINT_CHARS), path).text}`;
    }
    return undefined;
  }
}
