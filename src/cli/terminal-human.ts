// The person at this terminal: approvals, questions and secrets, each with a time limit.
import type { ApprovalAnswer, ApprovalChoice, ApprovalRequest, ClarifyRequest, Human } from "../core/human.ts";
import { underSignals } from "../lib/joined-signal.ts";
import type { Terminal } from "./terminal.ts";

const KEYS: { readonly [key: string]: ApprovalChoice } = {
  o: "once",
  s: "session",
  a: "always",
  d: "deny",
  y: "once",
  n: "deny",
};

export interface TerminalHumanOptions {
  readonly approvalMs: number;
  /** One line from the person; null at the end of input or when the signal fires. */
  readLine(prompt: string, signal: AbortSignal): Promise<string | null>;
  readSecret(prompt: string, signal: AbortSignal): Promise<string | null>;
}

function label(choice: ApprovalChoice): string {
  return `[${choice[0]}]${choice.slice(1)}`;
}

async function approve(
  terminal: Terminal,
  options: TerminalHumanOptions,
  request: ApprovalRequest,
  limit: AbortSignal,
): Promise<ApprovalAnswer> {
  terminal.err(
    `\n${terminal.style("yellow", "⚠ needs your approval:")} ${request.reason}\n  ${request.action.replaceAll("\n", "\n  ")}`,
  );
  const prompt = `  ${request.choices.map(label).join("  ")}? `;
  for (;;) {
    const answer = await options.readLine(prompt, limit);
    if (answer === null) {
      terminal.err(terminal.style("yellow", "  no answer: denied"));
      return { choice: "deny", unattended: true };
    }
    const word = answer.trim().toLowerCase();
    const choice = request.choices.find((candidate) => candidate === word) ?? KEYS[word[0] ?? ""];
    if (choice && request.choices.includes(choice)) return { choice };
  }
}

async function clarify(
  terminal: Terminal,
  options: TerminalHumanOptions,
  request: ClarifyRequest,
  signal: AbortSignal,
): Promise<string | null> {
  terminal.err(`\n${terminal.style("cyan", "?")} ${request.question}`);
  for (const [index, choice] of request.choices.entries()) terminal.err(`  ${index + 1}. ${choice}`);
  const answer = await options.readLine(request.choices.length > 0 ? "  number, or your own words: " : "  > ", signal);
  if (answer === null) return null;
  const chosen = request.choices[Number(answer.trim()) - 1];
  return chosen ?? answer.trim();
}

export function terminalHuman(terminal: Terminal, options: TerminalHumanOptions): Human {
  return {
    present: true,
    approve: (request, signal) =>
      underSignals([signal], options.approvalMs, (limit) => approve(terminal, options, request, limit)),
    clarify: (request, signal) => clarify(terminal, options, request, signal),
    secret: (prompt, signal) => options.readSecret(prompt, signal),
  };
}
