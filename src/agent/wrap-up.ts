// The last word when the budget of a turn is used up: one request for a summary, without tools.
import type { Message } from "../core/message.ts";
import { textOf } from "../core/message.ts";
import { accountFor } from "./account.ts";
import { buildRequest } from "./build-request.ts";
import { callModel } from "./model-call.ts";
import type { TurnOutcome, TurnScope } from "./turn-scope.ts";

const ASK: Message = {
  role: "user",
  content:
    "You have used all the steps of this turn. Do not call tools. Say in a few sentences what you did, what you found, what is still open, and how to go on.",
};
const FALLBACK_TEXT =
  "I used all the steps allowed for this turn and could not write a summary. What was done so far is kept; send “continue” to go on.";

/**
 * Outside the budget. The repeat carries the tools again, because some services refuse a history with tool calls when
 * no tools are declared; calls in the answer are ignored.
 */
export async function wrapUp(turn: TurnScope): Promise<TurnOutcome> {
  for (const tools of [[], turn.thread.tools.schemas]) {
    const request = buildRequest(turn, "wrap_up", { tools, scaffold: [ASK] });
    const outcome = await callModel(turn.thread.parts, request, turn);
    if (outcome.kind === "interrupted" || turn.signal.aborted) {
      turn.unfinished = outcome.streamed;
      return { end: "interrupted", text: outcome.streamed };
    }
    if (outcome.kind === "failed") continue;
    await accountFor(turn, outcome.response);
    const { tool_calls: _ignored, ...message } = outcome.response.message;
    const text = textOf(message.content);
    if (text.trim() === "") continue;
    await turn.append([message]);
    const { incomplete } = outcome.response;
    if (incomplete !== undefined) turn.notice("warning", incomplete.message);
    return { end: "budget", text, ...(incomplete === undefined ? {} : { note: incomplete.message }) };
  }
  await turn.append([{ role: "assistant", content: FALLBACK_TEXT, finish_reason: "stop" }]);
  return { end: "budget", text: FALLBACK_TEXT };
}
