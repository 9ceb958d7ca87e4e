// One turn: from the person's input until the agent has answered or must stop. A small state machine, one exit.
import { type Json, type JsonObject, type Message, textOf } from "../core/message.ts";
import type { ModelRequest } from "../core/provider.ts";
import { accountFor } from "./account.ts";
import { buildRequest } from "./build-request.ts";
import { compact, compactBeforeTurn } from "./compaction.ts";
import type { Judgement } from "./judge-reply.ts";
import { type CallOutcome, callModel } from "./model-call.ts";
import { isOverflow, shrinkAfterOverflow } from "./overflow.ts";
import { type BatchScope, runTools } from "./tools/run-tools.ts";
import type { TurnOutcome, TurnScope } from "./turn-scope.ts";
import { orElse } from "./until-aborted.ts";
import { wrapUp } from "./wrap-up.ts";

const NO_ANSWERS: readonly Json[] = [];

const interrupted = (text = ""): TurnOutcome => ({ end: "interrupted", text });

/** Runs the steps of a turn whose user message is stored. Undefined steps go on; an outcome ends the loop. */
export async function runTurn(turn: TurnScope): Promise<TurnOutcome> {
  await compactBeforeTurn(turn.thread, turn);
  turn.findUserMessage();
  await collectTransientContext(turn);
  for (;;) {
    if (turn.signal.aborted) return interrupted();
    if (turn.callsLeft <= 0) return wrapUp(turn);
    turn.callsLeft -= 1;
    const outcome = await step(turn);
    if (outcome !== undefined) return outcome;
  }
}

async function collectTransientContext(turn: TurnScope): Promise<void> {
  const { parts, log, turns } = turn.thread;
  const { memory, hooks } = parts;
  const asides: string[] = [];
  await orElse(memory.turnStarted(turns, turn.userText), turn.signal, undefined);
  const recalled = await orElse(memory.recall(turn.userText, log.sessionId), turn.signal, "");
  if (recalled.trim() !== "") asides.push(recalled);
  if (hooks.listens("pre_llm_call")) {
    const args: JsonObject = {
      session_id: log.sessionId,
      user_message: turn.userText,
      conversation_history: log.messages as unknown as Json,
      is_first_turn: log.messages.filter((message) => message.role === "user").length <= 1,
      model: parts.provider.identity.model,
      platform: parts.settings.source,
      sender_id: turn.senderId,
    };
    for (const answer of await orElse(hooks.run("pre_llm_call", args), turn.signal, NO_ANSWERS)) {
      const text = typeof answer === "string" ? answer : contextOf(answer);
      if (text.trim() !== "") asides.push(text);
    }
  }
  turn.transientContext = asides.join("\n\n");
}

function contextOf(answer: Json): string {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return "";
  const context = (answer as JsonObject).context;
  return typeof context === "string" ? context : "";
}

async function step(turn: TurnScope): Promise<TurnOutcome | undefined> {
  const request = buildRequest(turn, "turn");
  await requestHook(turn, request);
  const startedAt = performance.now();
  const outcome = await callModel(turn.thread.parts, request, turn);
  if (outcome.kind === "interrupted") {
    turn.unfinished = turn.judge.pieces + outcome.streamed;
    return interrupted(turn.unfinished);
  }
  if (outcome.kind === "failed") return afterFailure(turn, outcome);
  // Booked and answered together: a store that gathers its writes pays for one sync instead of two.
  const booked = accountFor(turn, outcome.response);
  const followed = afterResponse(turn, outcome, performance.now() - startedAt);
  const [result, row] = await Promise.allSettled([followed, booked]);
  if (result.status === "rejected") throw result.reason;
  if (row.status === "rejected") throw row.reason;
  return result.value;
}

async function afterResponse(
  turn: TurnScope,
  outcome: Extract<CallOutcome, { kind: "response" }>,
  durationMs: number,
): Promise<TurnOutcome | undefined> {
  await responseHook(turn, outcome, durationMs);
  const judgement = turn.judge.judge({
    response: outcome.response,
    streamed: outcome.streamed,
    log: turn.thread.log.messages,
  });
  return follow(turn, judgement, outcome.streamed);
}

async function follow(turn: TurnScope, judgement: Judgement, streamed: string): Promise<TurnOutcome | undefined> {
  switch (judgement.kind) {
    case "answer":
      if (judgement.message !== undefined) await turn.append([judgement.message]);
      if (judgement.notice !== undefined) turn.notice("warning", judgement.notice);
      return {
        end: "done",
        text: judgement.text,
        ...(judgement.notice === undefined ? {} : { note: judgement.notice }),
      };
    case "again":
      turn.scaffold = judgement.scaffold;
      if (judgement.notice !== undefined) turn.notice("warning", judgement.notice);
      // What was streamed is continued, not void, while an answer is being completed.
      if (turn.judge.pieces === "" && streamed !== "") turn.emit({ type: "restarted" });
      return undefined;
    case "failed":
      turn.unfinished = judgement.text === turn.judge.pieces ? judgement.text : "";
      return { end: "failed", text: judgement.text, failure: judgement.failure };
    case "tools":
      return useTools(turn, judgement);
  }
}

async function useTools(
  turn: TurnScope,
  judgement: Extract<Judgement, { kind: "tools" }>,
): Promise<TurnOutcome | undefined> {
  turn.scaffold = [];
  await turn.append([judgement.message]);
  const { calls } = judgement.batch;
  const batch = await runTools(calls, batchScope(turn));
  if (batch.interrupted || turn.signal.aborted) return interrupted();
  if (batch.stop !== undefined) return halted(batch.stop.text);
  if (judgement.last) return tooManyUnknown();
  if (turn.refundsLeft > 0 && calls.every((prepared) => prepared.call.function.name === "execute_code")) {
    turn.refundsLeft -= 1;
    turn.callsLeft += 1;
  }
  await compactAfterTools(turn);
  return undefined;
}

function batchScope(turn: TurnScope): BatchScope {
  const { parts, tools, log, steering } = turn.thread;
  return {
    parts,
    tools,
    steering,
    conversationId: log.conversationId,
    sessionId: log.sessionId,
    signal: turn.signal,
    guard: turn.guard,
    changes: turn.changes,
    get tainted() {
      return turn.tainted;
    },
    set tainted(value: boolean) {
      turn.tainted = value;
    },
    get origin() {
      return turn.thread.outside.origin;
    },
    readOutside: (origin) => turn.thread.outside.add(origin),
    get resultChars() {
      return turn.resultChars;
    },
    set resultChars(value: number) {
      turn.resultChars = value;
    },
    emit: turn.emit,
    messages: () => log.messages,
    spent: (usage, cost) => turn.tally.addSpend(usage, cost),
    keep: async (messages: readonly Message[]) => {
      await turn.append(messages);
    },
  };
}

function halted(text: string): TurnOutcome {
  const message = "The loop guard stopped the turn: the same calls were repeated without progress.";
  return {
    end: "failed",
    text: `I stopped because I was repeating myself without progress. ${text}`,
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

async function compactAfterTools(turn: TurnScope): Promise<void> {
  const { engine, settings } = turn.thread.parts;
  if (settings.compression === false || turn.fruitless) return;
  if (!engine.shouldCompress(turn.thread.requestTokens())) return;
  const report = await compact(turn.thread, turn);
  if (report.shrunk) turn.findUserMessage();
  else turn.fruitless = true;
}

type FailedCall = Extract<CallOutcome, { kind: "failed" }>;

async function afterFailure(turn: TurnScope, outcome: FailedCall): Promise<TurnOutcome | undefined> {
  const { failure } = outcome;
  if (isOverflow(failure)) {
    const problem = await shrinkAfterOverflow(turn, failure);
    if (turn.signal.aborted) return interrupted();
    return problem === undefined ? undefined : { end: "failed", text: "", failure: problem };
  }
  const seen = typeof outcome.partial?.content === "string" ? outcome.partial.content : outcome.streamed;
  turn.unfinished = turn.judge.pieces + seen;
  return { end: "failed", text: turn.unfinished, failure };
}

async function requestHook(turn: TurnScope, request: ModelRequest): Promise<void> {
  const { hooks } = turn.thread.parts;
  if (!hooks.listens("pre_api_request")) return;
  const args: JsonObject = {
    ...identityArgs(turn),
    user_message: turn.userText,
    conversation_history: turn.thread.log.messages as unknown as Json,
    api_call_count: turn.tally.modelCalls + 1,
    request_messages: request.messages as unknown as Json,
    message_count: request.messages.length,
    tool_count: request.tools.length,
    approx_input_tokens: turn.thread.requestTokens(),
    request_char_count: JSON.stringify(request.messages).length,
    max_tokens: request.maxOutputTokens ?? null,
  };
  await orElse(hooks.run("pre_api_request", args), turn.signal, NO_ANSWERS);
}

function identityArgs(turn: TurnScope): JsonObject {
  const { parts, log } = turn.thread;
  const { model, provider, baseUrl, transport } = parts.provider.identity;
  return {
    task_id: log.conversationId,
    session_id: log.sessionId,
    platform: parts.settings.source,
    model,
    provider,
    base_url: baseUrl,
    api_mode: transport,
  };
}

async function responseHook(
  turn: TurnScope,
  outcome: Extract<CallOutcome, { kind: "response" }>,
  durationMs: number,
): Promise<void> {
  const { hooks } = turn.thread.parts;
  if (!hooks.listens("post_api_request")) return;
  const { response } = outcome;
  const args: JsonObject = {
    ...identityArgs(turn),
    api_call_count: turn.tally.modelCalls,
    api_duration: durationMs / 1000,
    finish_reason: response.finishReason,
    message_count: turn.thread.log.messages.length,
    response_model: response.identity.model,
    response: { message: response.message as unknown as Json, finish_reason: response.finishReason },
    usage: { ...response.usage },
    assistant_message: response.message as unknown as Json,
    assistant_content_chars: textOf(response.message.content).length,
    assistant_tool_call_count: response.message.tool_calls?.length ?? 0,
  };
  await orElse(hooks.run("post_api_request", args), turn.signal, NO_ANSWERS);
}
