// Asks the user on the conversation screen: approvals, clarifications and secrets as dialogs.
import type { ApprovalAnswer, ApprovalChoice, ApprovalRequest, ClarifyRequest, Human } from "../../core/human.ts";
import { underSignals } from "../../lib/async/joined-signal.ts";
import { oneLine } from "../../lib/text/one-line.ts";
import { showControlCharacters } from "../../lib/text/visible-text.ts";
import { ChoiceDialog } from "../dialogs/choice-dialog.ts";
import type { Modal } from "../dialogs/modal.ts";
import { TextDialog } from "../dialogs/text-dialog.ts";
import type { Texts } from "../view/texts/texts.ts";
import type { Screen } from "./screen.ts";

const DECIDED: { readonly [choice in ApprovalChoice]: string } = {
  once: "allowed once",
  session: "allowed for this session",
  always: "always allowed",
  deny: "denied",
};

/** Text from outside for a heading: control characters are escaped, and it stays on one line. */
function safeLine(text: string): string {
  return oneLine(showControlCharacters(text));
}

export interface ScreenHumanOptions {
  readonly screen: Screen;
  readonly approvalMs: number;
  /** The texts in the user's language; they change with the settings. */
  texts(): Texts;
  /** Records a decision in the transcript. */
  decided(text: string, allowed: boolean): void;
}

/** Opens the dialog and resolves with its answer; null when the signal fires first. */
function ask<T>(
  screen: Screen,
  signal: AbortSignal,
  build: (done: (answer: T | null) => void) => Modal,
): Promise<T | null> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve(null);
      return;
    }
    let close: (() => void) | undefined;
    const stop = () => done(null);
    const done = (answer: T | null) => {
      signal.removeEventListener("abort", stop);
      close?.();
      resolve(answer);
    };
    close = screen.open(build(done));
    signal.addEventListener("abort", stop, { once: true });
  });
}

async function approve(
  request: ApprovalRequest,
  limit: AbortSignal,
  { screen, approvalMs, decided, texts }: ScreenHumanOptions,
): Promise<ApprovalAnswer> {
  const { choices } = request;
  const until = Number.isFinite(approvalMs) ? Date.now() + approvalMs : undefined;
  const question = {
    heading: texts().text("approval.needs", { reason: safeLine(request.reason) }),
    body: request.action,
    flagged: request.flagged,
    choices: choices.map((choice) => ({ label: texts().text(`approval.${choice}`), needsAll: choice !== "deny" })),
    until,
    cancelLabel: "denies",
    role: "warn" as const,
  };
  const index = await ask<number>(screen, limit, (done) => new ChoiceDialog(screen, question, done));
  const choice = index === null ? "deny" : (choices[index] ?? "deny");
  const action = safeLine(request.action).slice(0, 200);
  if (index === null && limit.aborted) {
    decided(`no answer in time, denied: ${action}`, false);
    return { choice: "deny", unattended: true };
  }
  decided(`${DECIDED[choice]}: ${action}`, choice !== "deny");
  return { choice };
}

async function clarify(
  request: ClarifyRequest,
  signal: AbortSignal,
  { screen, texts }: ScreenHumanOptions,
): Promise<string | null> {
  const heading = showControlCharacters(request.question);
  const text = () =>
    ask<string>(
      screen,
      signal,
      (done) => new TextDialog(screen, { heading, secret: false, cancelLabel: "skips" }, done),
    );
  if (request.choices.length === 0) return text();
  const labels = [...request.choices.map(safeLine), texts().text("clarify.other")];
  const question = {
    heading: safeLine(request.question),
    body: request.question.includes("\n") || request.question.length > 60 ? request.question : "",
    choices: labels.map((label) => ({ label })),
    cancelLabel: "skips",
    role: "accent" as const,
  };
  const index = await ask<number>(screen, signal, (done) => new ChoiceDialog(screen, question, done));
  if (index === null) return null;
  return index < request.choices.length ? (request.choices[index] ?? null) : text();
}

export function screenHuman(options: ScreenHumanOptions): Human {
  const { screen, approvalMs, decided } = options;
  return {
    present: true,
    approve: (request, signal) => underSignals([signal], approvalMs, (limit) => approve(request, limit, options)),
    clarify: async (request, signal) => {
      const answer = await clarify(request, signal, options);
      decided(
        `${safeLine(request.question).slice(0, 120)} → ${answer === null ? "(no answer)" : safeLine(answer)}`,
        true,
      );
      return answer;
    },
    secret: (prompt, signal) => {
      const heading = showControlCharacters(prompt).trim();
      return ask<string>(
        screen,
        signal,
        (done) => new TextDialog(screen, { heading, secret: true, cancelLabel: "refuses" }, done),
      );
    },
  };
}
