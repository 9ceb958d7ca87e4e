// Questions of the setup: a picker on a terminal, numbered lines in plain mode and in a pipe.
import { pick } from "../../lib/terminal/picker.ts";
import type { Terminal } from "../../lib/terminal/terminal.ts";

export interface Answer<T> {
  readonly label: string;
  readonly keywords?: string | undefined;
  readonly value: T;
}

/** The input ended before a question was answered. */
export class InputEnded extends Error {}

/** Null when the user skips the question. */
async function chooseByNumber<T>(terminal: Terminal, title: string, answers: readonly Answer<T>[]): Promise<T | null> {
  terminal.err(title);
  for (const [index, answer] of answers.entries()) terminal.err(`  ${index + 1}. ${terminal.forErr(answer.label)}`);
  for (;;) {
    const text = await terminal.ask(`Number, part of a name, or Enter to skip [1-${answers.length}]: `);
    if (text === null) throw new InputEnded();
    const word = text.trim().toLowerCase();
    if (word === "") return null;
    const named = answers.filter((answer) => `${answer.label} ${answer.keywords ?? ""}`.toLowerCase().includes(word));
    const chosen = /^\d+$/.test(word) ? answers[Number(word) - 1] : named.length === 1 ? named[0] : undefined;
    if (chosen) return chosen.value;
    terminal.err(
      named.length > 1 ? `"${word}" fits ${named.length} of them; write more of the name.` : `There is no "${word}".`,
    );
  }
}

/** Null when the user skips the question. */
export function choose<T>(terminal: Terminal, title: string, answers: readonly Answer<T>[]): Promise<T | null> {
  if (!terminal.interactive || terminal.plain) return chooseByNumber(terminal, title, answers);
  terminal.err(terminal.style("bold", title));
  return pick(terminal, "Enter chooses, Esc skips", answers);
}

/** The text, the fallback for an empty answer. */
export async function askText(terminal: Terminal, question: string, fallback = ""): Promise<string> {
  const text = await terminal.ask(`${question}${fallback === "" ? "" : ` [${fallback}]`}: `);
  if (text === null) throw new InputEnded();
  return text.trim() === "" ? fallback : text.trim();
}

export async function askSecret(terminal: Terminal, question: string): Promise<string> {
  const text = await terminal.askHidden(`${question} (not shown, Enter to skip): `);
  if (text === null) throw new InputEnded();
  return text.trim();
}

export async function askYes(terminal: Terminal, question: string): Promise<boolean> {
  const text = await terminal.ask(`${question} [y/N] `);
  if (text === null) throw new InputEnded();
  return /^y(es)?$/i.test(text.trim());
}
