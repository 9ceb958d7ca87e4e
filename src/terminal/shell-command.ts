// `!command` in a conversation: runs in the backend of the terminal tool, through the gate.
import type { OpenedConversation } from "../core/conversation.ts";
import { UserError } from "../core/failure.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import type { ChatUi, TurnOutput } from "./chat-ui.ts";

const MAX_SHOWN_LINES = 200;

/** The output of the terminal tool as text, with the exit code when it is not 0. */
function shownResult(result: string): string {
  const parsed = parseJson(result);
  if (!isRecord(parsed)) return result;
  const output = typeof parsed.output === "string" ? parsed.output.trimEnd() : "";
  const error = typeof parsed.error === "string" ? parsed.error : "";
  const code = typeof parsed.exit_code === "number" && parsed.exit_code !== 0 ? `exit code ${parsed.exit_code}` : "";
  return [output, error, code].filter((part) => part !== "").join("\n");
}

function shortened(text: string): string {
  const lines = text.split("\n");
  if (lines.length <= MAX_SHOWN_LINES) return text;
  return [...lines.slice(0, MAX_SHOWN_LINES), `… ${lines.length - MAX_SHOWN_LINES} more lines`].join("\n");
}

export async function runShellCommand(
  opened: OpenedConversation,
  command: string,
  { signal, ui, output }: { signal: AbortSignal; ui: ChatUi; output: TurnOutput },
): Promise<void> {
  if (command.trim() === "") throw new UserError("There is no command.", { hint: "Type it after the mark: !ls" });
  const label = `The user ran this command: ${command.trim()}`;
  const onEvent = output.show.bind(output);
  const result = await opened.conversation.runTool("terminal", { command: command.trim() }, { signal, label, onEvent });
  ui.text(shortened(shownResult(result)) || "(no output)", { columns: true });
}
