// The words of an approval question: everything that decides is visible, however long or strange the command is.
import type { ApprovalRequest } from "../../core/human.ts";
import { showControlCharacters } from "../../lib/text/visible-text.ts";

/** A question, and the whole of what it is about where that does not fit into it. */
export interface QuestionText {
  readonly text: string;
  /** Shown before the question: as a file, or as messages where there are no files. */
  readonly whole?: string | undefined;
}

/** Left for what stands around the command: reason, who asks, how to answer, how it ended. */
const AROUND = 900;
const LEAST = 200;
const MOST_PARTS = 3;
const PART = 180;
const REASON = 300;

/** With hidden characters as escapes, and nothing in it that ends a code block. */
export function visibleCommand(text: string): string {
  return showControlCharacters(text).replaceAll(/`{3,}/g, (run) => "\\x60".repeat(run.length));
}

/** The same on one line, for names and reasons. */
export function visibleLine(text: string, most = REASON): string {
  const line = visibleCommand(text).replaceAll(/\s+/g, " ").trim();
  return shortened(line, most);
}

/** Beginning and end: what is left out is in the whole. */
function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor(most / 3);
  return `${text.slice(0, most - tail - 3)} … ${text.slice(-tail)}`;
}

function block(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``;
}

/** `maxLength` is the longest message of the place; 0 for no limit. `guest` names who asks, for an owner elsewhere. */
export function approvalText(
  request: Pick<ApprovalRequest, "action" | "reason" | "flagged">,
  maxLength: number,
  guest?: string,
): QuestionText {
  const action = visibleCommand(request.action);
  const from = guest === undefined ? "" : `${guest} asks for this:\n`;
  const why = `⚠️ ${from}${visibleLine(request.reason)}`;
  const room = maxLength === 0 ? Number.POSITIVE_INFINITY : Math.max(LEAST, maxLength - AROUND);
  if (action.length <= room) return { text: `${why}\n\n${block(action)}` };
  const flagged = (request.flagged ?? []).slice(0, MOST_PARTS).map((part) => shortened(visibleCommand(part), PART));
  const parts = flagged.length > 0 ? flagged : [shortened(action, LEAST)];
  const about = flagged.length > 0 ? "This part needs approval" : "It begins and ends with this";
  const text = `${why}\n\n${about}:\n${block(parts.join("\n"))}\n\nThe whole command has ${action.length} characters and stands above this message.`;
  return { text, whole: action };
}
