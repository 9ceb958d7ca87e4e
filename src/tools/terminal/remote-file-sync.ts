// Copies variables and credential files of loaded skills to a remote machine when they are new or changed.
import { readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { shellQuote } from "../../lib/text/shell-quote.ts";

const MAX_FILE = 1024 * 1024;

export interface RemoteFiles {
  readonly variables: { readonly [name: string]: string };
  /** `to` is absolute, or relative to the remote home. */
  readonly files: readonly { readonly from: string; readonly to: string }[];
}

/** Runs a remote command with this input; false when it failed. Its output is dropped. */
export type RunRemote = (command: string, input: string | Buffer) => Promise<boolean>;

function quotePath(to: string): string {
  return posix.isAbsolute(to) ? shellQuote(to) : `"$HOME"/${shellQuote(to)}`;
}

export class RemoteFileSync {
  readonly #source: () => RemoteFiles;
  #variables = "";
  /** Remote paths that we wrote, with time and size of the source. */
  readonly #copied = new Map<string, string>();

  constructor(source: () => RemoteFiles) {
    this.#source = source;
  }

  /** Values are sent on standard input, never in arguments. Returns the names that could not be copied. */
  async copy(run: RunRemote): Promise<readonly string[]> {
    const { variables, files } = this.#source();
    const missing: string[] = [];
    const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuote(value)}\n`);
    const text = lines.join("");
    if (text !== this.#variables) {
      // Replaced atomically, because a command may start at the same time.
      const write = 'umask 077; cat > "$__h_d/own.new" && mv -f "$__h_d/own.new" "$__h_d/own"';
      if (await run(write, text)) this.#variables = text;
      else missing.push(...Object.keys(variables));
    }
    for (const file of files) if (!(await this.#copyFile(file, run))) missing.push(posix.basename(file.to));
    return missing;
  }

  async #copyFile(file: RemoteFiles["files"][number], run: RunRemote): Promise<boolean> {
    const info = statSync(file.from, { throwIfNoEntry: false });
    if (!info?.isFile() || info.size > MAX_FILE) return false;
    const state = `${info.mtimeMs} ${info.size}`;
    const known = this.#copied.get(file.to);
    if (known === state) return true;
    // A file that existed before is not ours and is not replaced.
    const guard = known === undefined ? '[ -e "$f" ] && exit 3; ' : "";
    const command = `umask 077; f=${quotePath(file.to)}; ${guard}mkdir -p "\${f%/*}" && cat > "$f.hermes-new" && mv -f "$f.hermes-new" "$f"`;
    if (!(await run(command, readFileSync(file.from)))) return false;
    this.#copied.set(file.to, state);
    return true;
  }

  /** A command that removes the copied files; empty when there are none. */
  removeCommand(): string {
    const files = [...this.#copied.keys()].map(quotePath);
    this.#copied.clear();
    this.#variables = "";
    return files.length === 0 ? "" : `rm -f ${files.join(" ")}`;
  }
}
