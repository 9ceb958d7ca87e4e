// A choice in the plain mode: a numbered list, answered with a number, a part of a label, or an action and a number.
import type { Choice } from "../../core/chat/command.ts";
import type { Terminal } from "../../lib/terminal/terminal.ts";
import { fuzzyFilter } from "../../lib/text/fuzzy.ts";
import { oneLine } from "../../lib/text/one-line.ts";
import { displayWidth, padToWidth } from "../../lib/text/text-width.ts";
import { showControlCharacters } from "../../lib/text/visible-text.ts";
import type { ChooseAnswer } from "../chat-ui.ts";
import type { AnswerReader } from "./line-reader.ts";

const MAX_SHOWN = 30;
const MAX_LABEL_WIDTH = 30;

function listLine(choice: Choice, index: number): string {
  const about = choice.description ? `: ${oneLine(showControlCharacters(choice.description))}` : "";
  const current = choice.current ? " (current)" : "";
  return `  ${index + 1}. ${oneLine(showControlCharacters(choice.label))}${current}${about}`;
}

/** The choices with their descriptions, for output where no answer can be typed. */
export function choiceTable(choices: readonly Choice[]): string {
  const labels = choices.map((choice) => oneLine(showControlCharacters(choice.label)));
  const width = Math.min(MAX_LABEL_WIDTH, Math.max(0, ...labels.map(displayWidth)));
  return choices
    .map(({ description, current }, index) => {
      const about = oneLine(showControlCharacters(description ?? ""));
      return `${padToWidth(labels[index] ?? "", width)}${current ? "  (current)" : ""}  ${about}`.trimEnd();
    })
    .join("\n");
}

type Step = { readonly args: string | null } | { readonly shown: readonly Choice[]; readonly why?: string | undefined };

/** What an answer means: the arguments of the command, or another list. */
function readAnswer(text: string, shown: readonly Choice[], answer: ChooseAnswer): Step {
  const { choices, multiple, actions = [] } = answer;
  const words = text
    .trim()
    .split(/[\s,]+/)
    .filter(Boolean);
  if (words.length === 0) return { args: null };
  const at = (word: string) => (/^\d+$/.test(word) ? shown[Number(word) - 1] : undefined);
  const [first = "", second = ""] = words;
  const action = actions.find(({ key }) => key.toLowerCase() === first.toLowerCase());
  const target = at(second);
  if (action && target) return { args: action.args(target.value) };
  const picked = words.map(at);
  if (multiple && picked.every((choice) => choice !== undefined))
    return { args: multiple.args(picked.map((choice) => choice?.value ?? "")) };
  const only = words.length === 1 ? at(first) : undefined;
  if (only) return { args: only.value };
  const found = fuzzyFilter(text, choices, { limit: choices.length, key: ({ label }) => label });
  return found.length > 0 ? { shown: found } : { shown, why: "nothing matches" };
}

function question({ multiple, actions = [] }: ChooseAnswer): string {
  const keys = actions.map(({ key, label }) => `${key} NUMBER: ${label}`);
  return `  ${[multiple ? "numbers" : "number", "part of a name to filter", ...keys, "Enter to cancel"].join(", ")}: `;
}

export async function chooseByNumber(
  terminal: Terminal,
  reader: AnswerReader,
  answer: ChooseAnswer,
): Promise<string | null> {
  let shown: readonly Choice[] = answer.choices;
  for (;;) {
    terminal.err(`\n${oneLine(showControlCharacters(answer.title))}`);
    for (const [index, choice] of shown.slice(0, MAX_SHOWN).entries()) terminal.err(listLine(choice, index));
    if (shown.length > MAX_SHOWN) terminal.err(`  … ${shown.length - MAX_SHOWN} more; type a part of the name`);
    const typed = await reader.line(question(answer), { signal: new AbortController().signal, mayPaste: false });
    if (typed === null) return null;
    const step: Step =
      "pasted" in typed ? { shown, why: "pasted text is no answer" } : readAnswer(typed.text, shown, answer);
    if ("args" in step) return step.args;
    shown = step.shown;
    if (step.why) terminal.err(`  ${step.why}`);
  }
}
