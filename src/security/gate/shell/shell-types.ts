// The words of shell analysis: what a script would run, as far as it can be known without running it.

/** Stands for a part of a word that is only known at run time. */
export const UNKNOWN = "\u{f8ff}";

export interface Word {
  /** After quotes, escapes, variables and substitutions; unknown parts are `UNKNOWN`. */
  readonly text: string;
  /** Contains parts that are only known at run time. */
  readonly dynamic: boolean;
  /** What runs inside a process substitution `<(…)`. */
  readonly inner?: readonly Invocation[] | undefined;
  /** The program whose output the word is, for a bare command substitution. */
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
  /** Commands whose output this one reads, nearest last. */
  upstream: readonly Invocation[];
  /** Text fed by a here-document or here-string. */
  stdin?: Word | undefined;
  readonly cwd: string;
  readonly assigned: readonly string[];
  /** The values of those variables; undefined when they are only known at run time. */
  readonly values?: { readonly [name: string]: string | undefined };
  background: boolean;
}

export interface ShellEnvironment {
  readonly userHome: string;
  readonly hermesHome: string;
  readonly cwd: string;
  /** The folder that the conversation works in, wherever its shell is; `cwd` when absent. */
  readonly workspace?: string | undefined;
  /** The command is for somebody who is not the owner. */
  readonly guest?: boolean | undefined;
}

/** Program name without its folder and case, as it decides what runs. */
export function programOf(invocation: Invocation): string {
  const { text } = invocation.name;
  return (text.split("/").pop() ?? text).toLowerCase().replace(/\.exe$/, "");
}

/** The texts of the arguments. */
export function argTexts(invocation: Invocation): string[] {
  return invocation.args.map((word) => word.text);
}

/** Arguments that are not options; everything after `--` counts. */
export function operands(invocation: Invocation): Word[] {
  const result: Word[] = [];
  let only = false;
  for (const word of invocation.args) {
    if (!only && word.text === "--") only = true;
    else if (only || !word.text.startsWith("-") || word.text === "-") result.push(word);
  }
  return result;
}

/** True when a short flag letter or a long flag is given, also inside a bundle such as `-rf`. */
export function hasFlag(invocation: Invocation, letters: string, ...long: string[]): boolean {
  for (const text of argTexts(invocation)) {
    if (text === "--") return false;
    if (text.startsWith("--")) {
      const name = text.split("=")[0] ?? text;
      if (long.some((flag) => flag === name || (name.length > 4 && flag.startsWith(name)))) return true;
    } else if (/^-[A-Za-z0-9]/.test(text) && [...letters].some((email) => text.slice(1).includes(email))) return true;
  }
  return false;
}
