// The text of an approval question. It never hides part of a command, however long or unusual.
import type { ApprovalRequest } from "../../core/human.ts";
import { showControlCharacters } from "../../lib/text/visible-text.ts";

/** A question, with the complete command when that does not fit into it. */
export interface QuestionText {
  readonly text: string;
  /** Sent before the question: as a file, or as messages where the platform takes no files. */
  readonly fullCommand?: string | undefined;
}

/** Room for the text around the command: reason, sender, how to answer, outcome. */
const RESERVED_LENGTH = 900;
const MIN_LENGTH = 200;
const MAX_PARTS = 3;
const MAX_PART = 180;
const MAX_REASON = 300;

/** Hidden characters become escapes, and nothing can end the code block around it. */
export function visibleCommand(text: string): string {
  return showControlCharacters(text).replaceAll(/`{3,}/g, (run) => "\\x60".repeat(run.length));
}

/** The same on one line, for names and reasons. */
export function visibleLine(text: string, max = MAX_REASON): string {
  const line = visibleCommand(text).replaceAll(/\s+/g, " ").trim();
  return shorten(line, max);
}

/** The start and the end of a long text. */
function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const tail = Math.floor(max / 3);
  return `${text.slice(0, max - tail - 3)} … ${text.slice(-tail)}`;
}

function block(text: string): string {
  return `\`\`\`\n${text}\n\`\`\``;
}

/** `maxLength` is the platform's longest message; 0 for no limit. `guest` names the guest when an owner is asked. */
export function approvalText(
  request: Pick<ApprovalRequest, "action" | "reason" | "flagged">,
  maxLength: number,
  guest?: string,
): QuestionText {
  const action = visibleCommand(request.action);
  const from = guest === undefined ? "" : `${guest} asks for this:\n`;
  const why = `⚠️ ${from}${visibleLine(request.reason)}`;
  const room = maxLength === 0 ? Number.POSITIVE_INFINITY : Math.max(MIN_LENGTH, maxLength - RESERVED_LENGTH);
  if (action.length <= room) return { text: `${why}\n\n${block(action)}` };
  const flagged = (request.flagged ?? []).slice(0, MAX_PARTS).map((part) => shorten(visibleCommand(part), MAX_PART));
  const parts = flagged.length > 0 ? flagged : [shorten(action, MIN_LENGTH)];
  const about = flagged.length > 0 ? "This part needs approval" : "Start and end of the command";
  const text = `${why}\n\n${about}:\n${block(parts.join("\n"))}\n\nThe whole command has ${action.length} characters; see above.`;
  return { text, fullCommand: action };
}
