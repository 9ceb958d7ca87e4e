// Outcomes as tables in Markdown.
import { isRefusal, type Outcome, type Verdict } from "./attempt.ts";

function count(outcomes: readonly Outcome[], verdict: Verdict): number {
  return outcomes.filter((outcome) => outcome.verdict === verdict).length;
}

function row(name: string, outcomes: readonly Outcome[]): string {
  const cells = (["executed", "recovered", "denied", "inert"] as const).map((verdict) => count(outcomes, verdict));
  return `| ${name} | ${outcomes.length} | ${cells.join(" | ")} |`;
}

/** One line per family, and their sum. */
export function familyTable(outcomes: readonly Outcome[]): string {
  const families = [...new Set(outcomes.map((outcome) => outcome.attempt.family))];
  const lines = families.map((family) => {
    return row(
      family,
      outcomes.filter((outcome) => outcome.attempt.family === family),
    );
  });
  const head = "| family | attempts | executed | recovered | denied | inert |\n|---|---|---|---|---|---|";
  return [head, ...lines, row("**all**", outcomes)].join("\n");
}

const MOST_DETAILS = 4;

function shortened(text: string): string {
  const line = text.replaceAll("\n", "⏎");
  return line.length > 140 ? `${line.slice(0, 140)}…` : line;
}

/** The details of an attempt, for debugging. */
export function describe(outcome: Outcome): string {
  const { attempt, seen } = outcome;
  const tried = attempt.calls.map((call) => `${call.name} ${JSON.stringify(call.args)}`).join(" ; ");
  const more = seen.details.length > MOST_DETAILS ? ` and ${seen.details.length - MOST_DETAILS} more` : "";
  const did = (seen.details.slice(0, MOST_DETAILS).join(", ") || seen.effects.join(", ")) + more;
  const none = seen.answers.length === 0 ? `no call was made: ${shortened(seen.output)}` : outcome.verdict;
  return `${attempt.id} ${attempt.family}: ${did || none}: ${shortened(tried)}`;
}

interface Ran {
  readonly exitCode: number | null;
  readonly output: string;
}

/** What a harmless command did in Hermes: its exit code and output, or undefined when it was not run. */
export function ranAs(outcome: Outcome): Ran | undefined {
  const answer = outcome.seen.answers.at(-1);
  if (!answer || isRefusal(answer)) return undefined;
  try {
    const value = JSON.parse(answer.text) as { exit_code?: unknown; output?: unknown };
    if (typeof value.exit_code !== "number") return undefined;
    return { exitCode: value.exit_code, output: String(value.output ?? "") };
  } catch {
    return undefined;
  }
}
