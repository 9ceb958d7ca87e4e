// What survives from one command to the next: exported variables and the working directory, kept in a small file.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ownTempFolder } from "./own-temp.ts";

/** Single quotes for a shell word, whatever it holds. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Variables of the shell itself: restoring them would warn or confuse. */
const OWN_VARIABLES = /^declare -x (?:SHLVL|PWD|_|BASHPID|PPID|UID|EUID|SHELLOPTS|BASHOPTS)(?:=.*)?\n/gm;

/** Builtins that could change what a shell hands on, or that run text which could; and words of the grammar. */
const CHANGES_STATE = new Set(
  ". source cd pushd popd export declare typeset readonly unset eval exec set shopt read mapfile readarray printf getopts let trap builtin command enable alias unalias hash exit logout if for while until case select function time coproc do done then else elif fi esac in".split(
    " ",
  ),
);

/** One plain program with plain words: it cannot change the shell around it, so nothing need be saved. */
function leavesStateAlone(command: string): boolean {
  if (!/^[\w./][\w ./,:@%+-]*$/.test(command)) return false;
  return !CHANGES_STATE.has(command.split(" ", 1)[0] ?? "");
}

export interface Wrapped {
  readonly script: string;
  /** Where the state afterwards is found; undefined when the command cannot change it. */
  readonly next: string | undefined;
}

export class ShellState {
  #folder: string | undefined;
  #sequence = 0;
  /** Exported variables as the shell starts with them: a state equal to it needs no restoring. */
  #base: string | undefined;
  #saved: { readonly path: string; readonly text: string } | undefined;
  /** The state before the saved one: a process that was just started may still read it. */
  #older: string | undefined;
  /** Functions in the environment may hide behind the name of any program. */
  readonly #functions: boolean;
  cwd: string;

  constructor(cwd: string, env: { readonly [name: string]: string } = {}) {
    this.cwd = cwd;
    this.#functions = Object.keys(env).some((name) => name.startsWith("BASH_FUNC_"));
  }

  /** Made when the first command needs it. */
  get folder(): string {
    this.#folder ??= ownTempFolder("shell");
    return this.#folder;
  }

  #restore(cwd: string): string {
    return this.#saved ? `. ${shellQuote(this.#saved.path)} 2>/dev/null; cd -- ${shellQuote(cwd)} || exit 126; ` : "";
  }

  /** A script that begins with the state and keeps nothing of what it does to it. It is started in `cwd`. */
  wrapDetached(command: string, cwd: string): string {
    return `${this.#restore(cwd)}eval ${shellQuote(command)}`;
  }

  /** The script for one command: restore, run, save. It is started in `cwd`. */
  wrap(command: string, cwd: string): Wrapped {
    if (!this.#functions && leavesStateAlone(command))
      return { script: `${this.#restore(cwd)}${command}`, next: undefined };
    const next = join(this.folder, `state-${++this.#sequence}`);
    const base = this.#base === undefined ? `export -p > ${shellQuote(`${next}.base`)}; ` : "";
    const save = `__hermes_code=$?; { pwd -P; export -p; } > ${shellQuote(next)} 2>/dev/null; exit $__hermes_code`;
    return { script: `${base}${this.#restore(cwd)}eval ${shellQuote(command)}\n${save}`, next };
  }

  /** Takes over what a finished command left; an interrupted one leaves nothing and the old state stays. */
  adopt(next: string | undefined): void {
    if (next === undefined) return;
    this.#base ??= read(`${next}.base`)?.replaceAll(OWN_VARIABLES, "");
    const text = read(next) ?? "";
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

/** These files are a few kilobytes and just written: a synchronous look is quicker than a thread. */
function read(path: string): string | undefined {
  try {
    const text = readFileSync(path, "utf8");
    rmSync(path, { force: true });
    return text;
  } catch {
    return undefined;
  }
}
