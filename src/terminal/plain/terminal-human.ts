// Asks the user at this terminal for approvals, answers and secrets.

import type { ApprovalAnswer, ApprovalChoice, ApprovalRequest, ClarifyRequest, Human } from "../../core/human.ts";
import { underSignals } from "../../lib/async/joined-signal.ts";
import type { Terminal } from "../../lib/terminal/terminal.ts";
import { oneLine } from "../../lib/text/one-line.ts";
import { fitToWidth } from "../../lib/text/text-width.ts";
import { showControlCharacters } from "../../lib/text/visible-text.ts";
import { actionText } from "./approval-question.ts";
import type { Answer, AnswerReader, LineReader } from "./line-reader.ts";

/** Only whole answers match: a sentence that begins with one of these letters is not a choice. */
const CHOICES = new Map<string, ApprovalChoice>([
  ...(["once", "session", "always", "deny"] as const).flatMap(
    (choice) =>
      [
        [choice, choice],
        [choice.slice(0, 1), choice],
      ] as const,
  ),
  ["y", "once"],
  ["yes", "once"],
  ["n", "deny"],
  ["no", "deny"],
]);

const DENIED: ApprovalAnswer = { choice: "deny" };
const NO_ANSWER: ApprovalAnswer = { choice: "deny", unattended: true };

export interface TerminalHumanOptions {
  readonly approvalMs: number;
  readonly reader: Pick<LineReader, "question">;
}

function label(choice: ApprovalChoice): string {
  return `[${choice[0]}]${choice.slice(1)}`;
}

/** Text from outside for a question: control characters are escaped, and it stays on one line. */
function safeLine(text: string): string {
  return oneLine(showControlCharacters(text));
}

class ApprovalQuestion {
  readonly #terminal: Terminal;
  readonly #reader: AnswerReader;
  readonly #request: ApprovalRequest;
  readonly #limit: AbortSignal;

  constructor(terminal: Terminal, reader: AnswerReader, request: ApprovalRequest, limit: AbortSignal) {
    this.#terminal = terminal;
    this.#reader = reader;
    this.#request = request;
    this.#limit = limit;
  }

  async ask(): Promise<ApprovalAnswer> {
    const { columns, rows } = this.#terminal.screen;
    const text = actionText(this.#request, { columns, rows });
    this.#heading();
    if (text.excerpt) {
      this.#rows(text.rows);
      this.#heading();
      this.#rows(text.excerpt);
    } else {
      for (const [index, page] of text.pages.entries()) {
        const last = index === text.pages.length - 1;
        if (last && index > 0) this.#heading();
        this.#rows(page);
        if (last) break;
        const stop = await this.#more(index + 1, text.pages.length);
        if (stop) return stop;
      }
    }
    return this.#choice();
  }

  #heading(): void {
    const warning = this.#terminal.style("yellow", "⚠ needs your approval:");
    this.#terminal.err(`\n${warning} ${safeLine(this.#request.reason)}`);
  }

  #rows(rows: readonly string[]): void {
    this.#terminal.streams.stderr.write(`${rows.join("\n")}\n`);
  }

  #read(prompt: string): Promise<Answer> {
    return this.#reader.line(prompt, { signal: this.#limit, mayPaste: false });
  }

  /** Asks before showing the next page: every page of a long action is shown before the choice. */
  async #more(page: number, pages: number): Promise<ApprovalAnswer | undefined> {
    for (;;) {
      const answer = await this.#read(`  part ${page} of ${pages}: Enter shows the next part, [d]eny? `);
      if (answer === null) return this.#noAnswer();
      const word = "pasted" in answer ? undefined : answer.text.trim().toLowerCase();
      if (word === "") return undefined;
      if (word !== undefined && CHOICES.get(word) === "deny") return DENIED;
      this.#terminal.err(this.#terminal.style("yellow", "  there is more to see first; press Enter, or type d"));
    }
  }

  async #choice(): Promise<ApprovalAnswer> {
    const { choices } = this.#request;
    const prompt = `  ${choices.map(label).join("  ")}? `;
    for (;;) {
      const answer = await this.#read(prompt);
      if (answer === null) return this.#noAnswer();
      if ("pasted" in answer) {
        this.#again("pasted text does not count as an answer");
        continue;
      }
      const word = answer.text.trim().toLowerCase();
      const choice = CHOICES.get(word);
      if (choice && choices.includes(choice)) return { choice };
      if (word === "") this.#again("nothing was chosen");
      else if (choice) this.#again(`"${choice}" cannot be chosen here`);
      else this.#again(`"${fitToWidth(safeLine(answer.text), 40)}" is not one of the choices`);
    }
  }

  #again(why: string): void {
    const keys = this.#request.choices.map((choice) => choice[0]).join(", ");
    this.#terminal.err(this.#terminal.style("yellow", `  ${why}; type one of ${keys}, or the whole word`));
  }

  #noAnswer(): ApprovalAnswer {
    this.#terminal.err(this.#terminal.style("yellow", "  no answer: denied"));
    return this.#limit.aborted ? NO_ANSWER : DENIED;
  }
}

async function clarify(
  terminal: Terminal,
  reader: AnswerReader,
  request: ClarifyRequest,
  signal: AbortSignal,
): Promise<string | null> {
  terminal.err(`\n${terminal.style("cyan", "?")} ${showControlCharacters(request.question)}`);
  for (const [index, choice] of request.choices.entries()) terminal.err(`  ${index + 1}. ${safeLine(choice)}`);
  const prompt = request.choices.length > 0 ? "  number, or your own words: " : "  > ";
  const answer = await reader.line(prompt, { signal, mayPaste: true });
  if (answer === null || "pasted" in answer) return null;
  const chosen = /^\d+$/.test(answer.text.trim()) ? request.choices[Number(answer.text.trim()) - 1] : undefined;
  return chosen ?? answer.text.trim();
}

export function terminalHuman(terminal: Terminal, options: TerminalHumanOptions): Human {
  const { reader, approvalMs } = options;
  return {
    present: true,
    piped: !terminal.interactive,
    approve: async (request, signal) =>
      (await reader.question(signal, (answers) =>
        underSignals([signal], approvalMs, (limit) => new ApprovalQuestion(terminal, answers, request, limit).ask()),
      )) ?? NO_ANSWER,
    clarify: (request, signal) => reader.question(signal, (answers) => clarify(terminal, answers, request, signal)),
    secret: (prompt, signal) =>
      reader.question(signal, (answers) => answers.secret(showControlCharacters(prompt), signal)),
  };
}
