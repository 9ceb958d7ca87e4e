// The review of proposed changes, as surfaces use it, and its texts.
import { oneLine } from "../lib/text/one-line.ts";
import { truncate } from "../lib/text/truncate.ts";
import { showControlCharacters } from "../lib/text/visible-text.ts";
import type { Proposal } from "./store/proposals.ts";

export interface Review {
  /** Changes that wait for a decision, oldest first; with `all` the decided ones too. */
  list(all?: boolean): Promise<readonly Proposal[]>;
  /** Throws UserError when there is none of that number. */
  find(id: number): Promise<Proposal>;
  /** Makes exactly the proposed change. Throws UserError when it was decided already or cannot be made any more. */
  accept(id: number): Promise<string>;
  discard(id: number): Promise<void>;
}

const LINE_CHARS = 100;
const DETAIL_CHARS = 6_000;

const NAMES: { readonly [what: string]: string } = {
  memory: "memory",
  skill: "skill",
  cron: "job",
  config: "configuration",
  file: "file",
};

function when(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
}

/** One line: number, kind, what would change and where the text came from. */
export function formatProposalLine(proposal: Proposal): string {
  const { id, what, summary, origin, state } = proposal;
  const mark = state === "open" ? "" : ` [${state}]`;
  const about = oneLine(showControlCharacters(summary), LINE_CHARS);
  return `${id}  ${NAMES[what] ?? what}${mark}: ${about} (from ${oneLine(showControlCharacters(origin), LINE_CHARS)})`;
}

function formatValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return showControlCharacters(text);
}

/** The whole change: what is called with which arguments. Control characters are shown as escapes. */
export function formatProposal(proposal: Proposal): string {
  const { id, what, origin, tool, args, sessionId, source, createdAt, state, result } = proposal;
  const lines = Object.entries(args).map(([name, value]) => {
    const text = formatValue(value);
    return text.includes("\n") ? `${name}:\n${text.replaceAll(/^/gm, "    ")}` : `${name}: ${text}`;
  });
  return [
    `Proposal ${id}: ${NAMES[what] ?? what}, ${state}${proposal.userId ? `, for ${proposal.userId}` : ""}`,
    `Text from: ${showControlCharacters(origin)}`,
    `Made at:   ${when(createdAt)} UTC in session ${sessionId} (${source})`,
    `Accepting it calls ${tool} with:`,
    truncate(lines.join("\n"), DETAIL_CHARS),
    ...(result === undefined ? [] : [`Result: ${oneLine(showControlCharacters(result), LINE_CHARS * 2)}`]),
  ].join("\n");
}
