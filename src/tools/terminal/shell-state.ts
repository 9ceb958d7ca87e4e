// What survives from one command to the next: exported variables and the working directory, kept in a small file.
import { mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Single quotes for a shell word, whatever it holds. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Variables of the shell itself: restoring them would warn or confuse. */
const OWN_VARIABLES = "SHLVL|PWD|OLDPWD|_|BASHPID|PPID|UID|EUID|SHELLOPTS|BASHOPTS";

export class ShellState {
  readonly #folder: Promise<string>;
  #sequence = 0;
  #saved: string | undefined;
  cwd: string;

  constructor(cwd: string) {
    this.cwd = cwd;
    this.#folder = mkdtemp(join(tmpdir(), "hermes-shell-"));
  }

  /** The script for one command: restore, go there, run, save. `next` is where the state afterwards is found. */
  async wrap(command: string, cwd: string): Promise<{ script: string; next: string }> {
    const next = join(await this.#folder, `state-${++this.#sequence}`);
    const restore = this.#saved ? `. ${shellQuote(this.#saved)} 2>/dev/null; ` : "";
    const save = `__hermes_code=$?; { pwd -P; export -p; } > ${shellQuote(next)} 2>/dev/null; exit $__hermes_code`;
    const script = `${restore}cd -- ${shellQuote(cwd)} || exit 126; eval ${shellQuote(command)}\n${save}`;
    return { script, next };
  }

  /** Takes over what a finished command left; an interrupted one leaves nothing and the old state stays. */
  async adopt(next: string): Promise<void> {
    const text = await readFile(next, "utf8").catch(() => "");
    const cut = text.indexOf("\n");
    if (cut <= 0) return;
    this.cwd = text.slice(0, cut);
    const { writeFile } = await import("node:fs/promises");
    const kept = text.slice(cut + 1).replaceAll(new RegExp(`^declare -x (?:${OWN_VARIABLES})(?:=.*)?$`, "gm"), ":");
    const saved = join(await this.#folder, "state");
    await writeFile(`${saved}.new`, kept, { mode: 0o600 });
    await rename(`${saved}.new`, saved);
    this.#saved = saved;
    await rm(next, { force: true });
  }

  async close(): Promise<void> {
    await rm(await this.#folder, { recursive: true, force: true });
  }
}
