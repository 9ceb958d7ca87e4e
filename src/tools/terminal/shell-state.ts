// Carries exported variables and the working directory from one command to the next, in a file.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { shellQuote } from "../../lib/text/shell-quote.ts";
import { ownTempFolder } from "./own-temp.ts";

/** Variables that the shell sets itself; restoring them would cause warnings. */
const OWN_VARIABLES = /^declare -x (?:SHLVL|PWD|_|BASHPID|PPID|UID|EUID|SHELLOPTS|BASHOPTS)(?:=.*)?\n/gm;

/** Builtins that can change variables or the folder or run code that does, and keywords. */
const CHANGES_STATE = new Set(
  ". source cd pushd popd export declare typeset readonly unset eval exec set shopt read mapfile readarray printf getopts let trap builtin command enable alias unalias hash exit logout if for while until case select function time coproc do done then else elif fi esac in".split(
    " ",
  ),
);

/** True for one program with plain arguments: it cannot change the shell, so its state need not be saved. */
function cannotChangeState(command: string): boolean {
  if (!/^[\w./][\w ./,:@%+-]*$/.test(command)) return false;
  return !CHANGES_STATE.has(command.split(" ", 1)[0] ?? "");
}

export interface Wrapped {
  readonly script: string;
  /** The file with the state after the command; undefined when the command cannot change it. */
  readonly next: string | undefined;
}

export class ShellState {
  #folder: string | undefined;
  #sequence = 0;
  /** The exported variables of a new shell; an equal state need not be restored. */
  #base: string | undefined;
  #saved: { readonly path: string; readonly text: string } | undefined;
  /** The file of the previous state, which a process that has just started may still read. */
  #older: string | undefined;
  /** True when the environment exports functions, which can replace any program. */
  readonly #functions: boolean;
  cwd: string;

  constructor(cwd: string, env: { readonly [name: string]: string } = {}) {
    this.cwd = cwd;
    this.#functions = Object.keys(env).some((name) => name.startsWith("BASH_FUNC_"));
  }

  /** Created when the first command needs it. */
  get folder(): string {
    this.#folder ??= ownTempFolder("shell");
    return this.#folder;
  }

  #restore(cwd: string): string {
    return this.#saved ? `. ${shellQuote(this.#saved.path)} 2>/dev/null; cd -- ${shellQuote(cwd)} || exit 126; ` : "";
  }

  /** A script that restores the state but does not save it. Must be started in `cwd`. */
  wrapDetached(command: string, cwd: string): string {
    return `${this.#restore(cwd)}eval ${shellQuote(command)}`;
  }

  /** A script that restores the state, runs the command and saves the state. Must be started in `cwd`. */
  wrap(command: string, cwd: string): Wrapped {
    if (!this.#functions && cannotChangeState(command))
      return { script: `${this.#restore(cwd)}${command}`, next: undefined };
    const next = join(this.folder, `state-${++this.#sequence}`);
    const base = this.#base === undefined ? `export -p > ${shellQuote(`${next}.base`)}; ` : "";
    const save = `__hermes_code=$?; { pwd -P; export -p; } > ${shellQuote(next)} 2>/dev/null; exit $__hermes_code`;
    return { script: `${base}${this.#restore(cwd)}eval ${shellQuote(command)}\n${save}`, next };
  }

  /** Adopts the state that a finished command saved. */
  adopt(next: string | undefined): void {
    if (next === undefined) return;
    this.#base ??= takeFile(`${next}.base`)?.replaceAll(OWN_VARIABLES, "");
    const text = takeFile(next) ?? "";
    const cut = text.indexOf("\n");
    if (cut <= 0) return;
    this.cwd = text.slice(0, cut);
    const exported = text.slice(cut + 1).replaceAll(OWN_VARIABLES, "");
    if (exported === (this.#saved?.text ?? this.#base)) return;
    const path = `${next}.sh`;
    writeFileSync(path, exported, { mode: 0o600 });
    if (this.#older) rmSync(this.#older, { force: true });
    this.#older = this.#saved?.path;
    this.#saved = { path, text: exported };
  }

  async close(): Promise<void> {
    if (this.#folder) await rm(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }
}

/** Reads and removes a small file; a synchronous call is faster than a round trip to the thread pool. */
function takeFile(path: string): string | undefined {
  try {
    const text = readFileSync(path, "utf8");
    rmSync(path, { force: true });
    return text;
  } catch {
    return undefined;
  }
}
