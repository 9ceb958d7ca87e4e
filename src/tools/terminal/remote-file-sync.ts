// What loaded skills need on the other side: their variables and credential files, brought when they are new or changed.
import { readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import { shellQuote } from "./shell-state.ts";

const MAX_FILE = 1024 * 1024;

export interface RemoteFiles {
  readonly variables: { readonly [name: string]: string };
  /** `to` is absolute, or below the home there. */
  readonly files: readonly { readonly from: string; readonly to: string }[];
}

/** Runs a command there with this input; false when it failed. What it prints is nobody's business. */
export type Deliver = (command: string, input: string | Buffer) => Promise<boolean>;

function place(to: string): string {
  return posix.isAbsolute(to) ? shellQuote(to) : `"$HOME"/${shellQuote(to)}`;
}

export class RemoteFileSync {
  readonly #wanted: () => RemoteFiles;
  #variables = "";
  /** Files that we put there, with the state in which they were sent. */
  readonly #put = new Map<string, string>();

  constructor(wanted: () => RemoteFiles) {
    this.#wanted = wanted;
  }

  /** Values travel on the line, never in arguments. Answers with names that could not be brought. */
  async bring(deliver: Deliver): Promise<readonly string[]> {
    const { variables, files } = this.#wanted();
    const missing: string[] = [];
    const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuote(value)}\n`);
    const text = lines.join("");
    if (text !== this.#variables) {
      // Written beside and moved: a command that starts meanwhile reads the old ones or the new ones.
      const write = 'umask 077; cat > "$__h_d/own.new" && mv -f "$__h_d/own.new" "$__h_d/own"';
      if (await deliver(write, text)) this.#variables = text;
      else missing.push(...Object.keys(variables));
    }
    for (const file of files) if (!(await this.#bringFile(file, deliver))) missing.push(posix.basename(file.to));
    return missing;
  }

  async #bringFile(file: RemoteFiles["files"][number], deliver: Deliver): Promise<boolean> {
    const info = statSync(file.from, { throwIfNoEntry: false });
    if (!info?.isFile() || info.size > MAX_FILE) return false;
    const state = `${info.mtimeMs} ${info.size}`;
    const known = this.#put.get(file.to);
    if (known === state) return true;
    // One that was there before us belongs to somebody else and stays.
    const guard = known === undefined ? '[ -e "$f" ] && exit 3; ' : "";
    const command = `umask 077; f=${place(file.to)}; ${guard}mkdir -p "\${f%/*}" && cat > "$f.hermes-new" && mv -f "$f.hermes-new" "$f"`;
    if (!(await deliver(command, readFileSync(file.from)))) return false;
    this.#put.set(file.to, state);
    return true;
  }

  /** A command that takes away what was put there; empty when there is nothing. */
  leaving(): string {
    const files = [...this.#put.keys()].map(place);
    this.#put.clear();
    this.#variables = "";
    return files.length === 0 ? "" : `rm -f ${files.join(" ")}`;
  }
}
