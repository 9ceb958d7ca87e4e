// The agent loop: call the model, run the tools it asks for, repeat until it answers or the turn must end.
import type { Message } from "../core/message.ts";
import { contentText } from "../core/message.ts";
import { compactAfterTools, compactBeforeTurn, recoverFromOverflow } from "./compaction.ts";
import { buildRequest, callModel, type FailedCall, type ModelReply } from "./model-call.ts";
import type { NextStep } from "./next-step.ts";
import { recordUsage } from "./record-usage.ts";
import type { PreparedCall } from "./tools/prepare-calls.ts";
import type { ResolvedTools } from "./tools/resolved-tools.ts";
import { runTools } from "./tools/run-tools.ts";
import { afterModelCall, beforeModelCall, contextFromHooks } from "./turn-hooks.ts";
import type { Turn, TurnOutcome } from "./turn-state.ts";
import { valueOrFallback } from "./until-aborted.ts";

const SUMMARY_REQUEST: Message = {
  role: "user",
  content:
    "You have used all the steps of this turn. Do not call tools. Say in a few sentences what you did, what you found, what is still open, and how to continue.",
};
const SUMMARY_FALLBACK =
  "I used all the steps allowed for this turn and could not write a summary. Everything done so far is stored; send “continue” to resume.";

const interrupted = (text = ""): TurnOutcome => ({ end: "interrupted", text });

/** Runs a turn whose user message is stored already. */
export async function runTurn(turn: Turn): Promise<TurnOutcome> {
  await compactBeforeTurn(turn);
  await collectContext(turn);
  for (;;) {
    if (turn.signal.aborted) return interrupted();
    if (turn.callsLeft <= 0) return summarise(turn);
    turn.callsLeft -= 1;
    const outcome = await step(turn);
    if (outcome !== undefined) return outcome;
  }
}

/** What memory and hooks add to this turn's requests. */
async function collectContext(turn: Turn): Promise<void> {
  const { memory, log } = turn.state;
  const recalled = await valueOrFallback(memory.recall(turn.userText, log.sessionId), turn.signal, "");
  const texts = [recalled, ...(await contextFromHooks(turn))];
  turn.transientContext = texts.filter((text) => text.trim() !== "").join("\n\n");
}

/** One model call and what follows from it. Undefined: the loop continues. */
async function step(turn: Turn): Promise<TurnOutcome | undefined> {
  const { memory, turns } = turn.state;
  await valueOrFallback(memory.turnStarted(turns, turn.userText), turn.signal, undefined);
  const request = buildRequest(turn, "turn");
  await beforeModelCall(turn, request);
  const startedAt = performance.now();
  const result = await callModel(turn, request);
  if (result.kind === "interrupted") {
    turn.unfinished = turn.replies.pieces + result.streamed;
    return interrupted(turn.unfinished);
  }
  if (result.kind === "failed") return afterFailure(turn, result);
  recordUsage(turn, result.response);
  try {
    return await afterReply(turn, result, performance.now() - startedAt);
  } finally {
    await turn.writePendingUsage();
  }
}

async function afterReply(turn: Turn, reply: ModelReply, durationMs: number): Promise<TurnOutcome | undefined> {
  const { response, streamed } = reply;
  await afterModelCall(turn, response, durationMs);
  const next = turn.replies.read({ response, streamed, log: turn.state.log.messages });
  switch (next.kind) {
    case "answer":
      if (next.message !== undefined) await turn.append([next.message]);
      if (next.notice !== undefined) turn.notice("warning", next.notice);
      return { end: "done", text: next.text, note: next.notice };
    case "again":
      turn.retryMessages = next.messages;
      if (next.notice !== undefined) turn.notice("warning", next.notice);
      // While an answer is being completed, the streamed text stays valid.
      if (turn.replies.pieces === "" && streamed !== "") turn.emit({ type: "restarted" });
      return undefined;
    case "failed":
      turn.unfinished = next.text === turn.replies.pieces ? next.text : "";
      return { end: "failed", text: next.text, failure: next.failure };
    case "tools":
      return useTools(turn, next);
  }
}

/** Calls of the caller's own tools are returned to it; refused ones are answered like any other. */
function isForClient({ call, refusal }: PreparedCall, tools: ResolvedTools): boolean {
  const found = tools.locate(call.function.name);
  return refusal === undefined && found.kind === "tool" && found.tool.runsInClient === true;
}

async function useTools(turn: Turn, next: Extract<NextStep, { kind: "tools" }>): Promise<TurnOutcome | undefined> {
  turn.retryMessages = [];
  await turn.append([next.message]);
  const { tools } = turn.state;
  const forClient = next.batch.calls.filter((prepared) => isForClient(prepared, tools));
  const calls = next.batch.calls.filter((prepared) => !forClient.includes(prepared));
  const stopped = await runTools(turn, calls);
  if (turn.signal.aborted) return interrupted();
  if (stopped !== undefined) return stoppedByGuard(stopped);
  if (forClient.length > 0) {
    const text = contentText(next.message.content);
    return { end: "done", text, clientCalls: forClient.map(({ call }) => call) };
  }
  if (next.last) return tooManyUnknown();
  if (turn.refundsLeft > 0 && calls.every((prepared) => prepared.name === "execute_code")) {
    turn.refundsLeft -= 1;
    turn.callsLeft += 1;
  }
  await compactAfterTools(turn);
  return undefined;
}

async function afterFailure(turn: Turn, result: FailedCall): Promise<TurnOutcome | undefined> {
  const overflow = await recoverFromOverflow(turn, result.failure);
  if (overflow !== undefined) {
    if (turn.signal.aborted) return interrupted();
    return overflow.recovered ? undefined : { end: "failed", text: "", failure: overflow.failure };
  }
  const seen = typeof result.partial?.content === "string" ? result.partial.content : result.streamed;
  turn.unfinished = turn.replies.pieces + seen;
  return { end: "failed", text: turn.unfinished, failure: result.failure };
}

/**
 * The budget is used up: one more request for a summary, without tools. The second attempt declares the tools, because
 * some services refuse a history with tool calls otherwise; calls in the answer are ignored.
 */
async function summarise(turn: Turn): Promise<TurnOutcome> {
  for (const tools of [[], turn.state.tools.schemas]) {
    const request = buildRequest(turn, "wrap_up", { tools, extra: [SUMMARY_REQUEST] });
    const result = await callModel(turn, request);
    if (result.kind === "interrupted" || turn.signal.aborted) {
      turn.unfinished = result.streamed;
      return interrupted(result.streamed);
    }
    if (result.kind === "failed") continue;
    recordUsage(turn, result.response);
    const { tool_calls: _ignored, ...message } = result.response.message;
    const text = contentText(message.content);
    if (text.trim() === "") continue;
    await turn.append([message]);
    const note = result.response.incomplete?.message;
    if (note !== undefined) turn.notice("warning", note);
    return { end: "budget", text, note };
  }
  await turn.append([{ role: "assistant", content: SUMMARY_FALLBACK, finish_reason: "stop" }]);
  return { end: "budget", text: SUMMARY_FALLBACK };
}

function stoppedByGuard(warning: string): TurnOutcome {
  const message = "The loop guard stopped the turn: the same calls were repeated without progress.";
  return {
    end: "failed",
    text: `I stopped because I was repeating myself without progress. ${warning}`,
    failure: { kind: "unknown", message, hint: "Give a hint or another approach, then send it again." },
  };
}

function tooManyUnknown(): TurnOutcome {
  const message = "The model asked three times in a row for tools that do not exist.";
  return {
    end: "failed",
    text: "",
    failure: { kind: "format_error", message, hint: "Send the message again, or choose another model." },
  };
}
