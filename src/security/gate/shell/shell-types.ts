// Types of the shell analysis: the commands of a script, as far as they are known without running it.

/** Placeholder for a part of a word that is only known at run time. */
export const UNKNOWN = "\u{f8ff}";

export interface Word {
  /** The text after expansion of quotes, escapes, variables and substitutions; unknown parts are `UNKNOWN`. */
  readonly text: string;
  /** Contains parts that are only known at run time. */
  readonly dynamic: boolean;
  /** The commands inside a process substitution `<(…)`. */
  readonly inner?: readonly Invocation[] | undefined;
  /** For a command substitution: the program whose output the word is. */
  readonly from?: string | undefined;
}

export interface Redirect {
  readonly operator: string;
  readonly target: Word;
}

/** One simple command in command position. */
export interface Invocation {
  readonly name: Word;
  readonly args: readonly Word[];
  readonly redirects: Redirect[];
  /** Commands whose output this one reads; the nearest is last. */
  upstream: readonly Invocation[];
  /** Text of a here-document or here-string. */
  stdin?: Word | undefined;
  readonly cwd: string;
  readonly assigned: readonly string[];
  /** The values of the assigned variables; undefined when only known at run time. */
  readonly values?: { readonly [name: string]: string | undefined } | undefined;
  background: boolean;
}

export interface ShellEnvironment {
  readonly userHome: string;
  readonly hermesHome: string;
  readonly cwd: string;
  /** The folder of the conversation, independent of the shell's current folder; `cwd` when absent. */
  readonly workspace?: string | undefined;
  /** True when a guest, not the owner, requested the command. */
  readonly guest?: boolean | undefined;
}

/** The program name in lower case, without folder and `.exe`. */
export function programName(invocation: Invocation): string {
  const { text } = invocation.name;
  return (text.split("/").pop() ?? text).toLowerCase().replace(/\.exe$/, "");
}

/** The texts of the arguments. */
export function argTexts(invocation: Invocation): string[] {
  return invocation.args.map((word) => word.text);
}

/** Arguments that are not options, and everything after `--`. */
export function operands(invocation: Invocation): Word[] {
  const result: Word[] = [];
  let only = false;
  for (const word of invocation.args) {
    if (!only && word.text === "--") only = true;
    else if (only || !word.text.startsWith("-") || word.text === "-") result.push(word);
  }
  return result;
}

/** True when one of the short or long flags is given, also in a group such as `-rf`. */
export function hasFlag(invocation: Invocation, letters: string, ...long: string[]): boolean {
  for (const text of argTexts(invocation)) {
    if (text === "--") return false;
    if (text.startsWith("--")) {
      const name = text.split("=")[0] ?? text;
      if (long.some((flag) => flag === name || (name.length > 4 && flag.startsWith(name)))) return true;
    } else if (/^-[A-Za-z0-9]/.test(text) && [...letters].some((letter) => text.slice(1).includes(letter))) return true;
  }
  return false;
}
