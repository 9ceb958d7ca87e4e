// The hooks of a turn: what plugins and shell hooks see and may change around model calls and at the end.
import type { TurnEnd } from "../core/event.ts";
import type { HookName } from "../core/hook.ts";
import { contentText, type Json, type JsonObject } from "../core/message.ts";
import type { ModelRequest, ModelResponse } from "../core/model/provider.ts";
import { isRecord } from "../lib/json/is-record.ts";
import type { Turn } from "./turn-state.ts";
import { valueOrFallback } from "./until-aborted.ts";

const NO_ANSWERS: readonly Json[] = [];
/** Time limit of the hooks at the end of a turn; short when the user interrupted and waits. */
const END_MS = 30_000;
const END_MS_INTERRUPTED = 150;

function commonArgs(turn: Turn): JsonObject {
  const { log, provider, settings } = turn.state;
  return { session_id: log.sessionId, model: provider.identity.model, platform: settings.source };
}

function requestArgs(turn: Turn): JsonObject {
  const { provider, baseUrl, transport } = turn.state.provider.identity;
  const task_id = turn.state.log.conversationId;
  return { task_id, ...commonArgs(turn), provider, base_url: baseUrl, api_mode: transport };
}

/** `pre_llm_call`: texts to add to the requests of this turn. */
export async function contextFromHooks(turn: Turn): Promise<string[]> {
  const { hooks, log } = turn.state;
  if (!hooks.listens("pre_llm_call")) return [];
  const args: JsonObject = {
    ...commonArgs(turn),
    user_message: turn.userText,
    conversation_history: log.messages as unknown as Json,
    is_first_turn: log.messages.filter((message) => message.role === "user").length <= 1,
    sender_id: turn.senderId,
  };
  const answers = await valueOrFallback(hooks.run("pre_llm_call", args), turn.signal, NO_ANSWERS);
  return answers.flatMap((answer) => {
    const text = isRecord(answer) ? answer.context : answer;
    return typeof text === "string" ? [text] : [];
  });
}

/** `pre_api_request`. */
export async function beforeModelCall(turn: Turn, request: ModelRequest): Promise<void> {
  const { hooks, log, tools } = turn.state;
  if (!hooks.listens("pre_api_request")) return;
  const args: JsonObject = {
    ...requestArgs(turn),
    user_message: turn.userText,
    conversation_history: log.messages as unknown as Json,
    api_call_count: turn.totals.modelCalls + 1,
    request_messages: request.messages as unknown as Json,
    message_count: request.messages.length,
    tool_count: request.tools.length,
    approx_input_tokens: log.requestTokens(tools.schemas),
    request_char_count: JSON.stringify(request.messages).length,
    max_tokens: request.maxOutputTokens ?? null,
  };
  await valueOrFallback(hooks.run("pre_api_request", args), turn.signal, NO_ANSWERS);
}

/** `post_api_request`. */
export async function afterModelCall(turn: Turn, response: ModelResponse, durationMs: number): Promise<void> {
  const { hooks, log } = turn.state;
  if (!hooks.listens("post_api_request")) return;
  const args: JsonObject = {
    ...requestArgs(turn),
    api_call_count: turn.totals.modelCalls,
    api_duration: durationMs / 1000,
    finish_reason: response.finishReason,
    message_count: log.messages.length,
    response_model: response.identity.model,
    response: { message: response.message as unknown as Json, finish_reason: response.finishReason },
    usage: { ...response.usage },
    assistant_message: response.message as unknown as Json,
    assistant_content_chars: contentText(response.message.content).length,
    assistant_tool_call_count: response.message.tool_calls?.length ?? 0,
  };
  await valueOrFallback(hooks.run("post_api_request", args), turn.signal, NO_ANSWERS);
}

async function runEndHook(turn: Turn, name: HookName, end: TurnEnd, args: JsonObject): Promise<readonly Json[]> {
  const { hooks } = turn.state;
  if (!hooks.listens(name)) return NO_ANSWERS;
  const limit = AbortSignal.timeout(end === "interrupted" ? END_MS_INTERRUPTED : END_MS);
  return valueOrFallback(hooks.run(name, { ...commonArgs(turn), ...args }), limit, NO_ANSWERS);
}

/** `transform_llm_output`: the first text that a hook returns replaces the answer. */
export async function transformAnswer(turn: Turn, end: TurnEnd, text: string): Promise<string> {
  const answers = await runEndHook(turn, "transform_llm_output", end, { response_text: text });
  const changed = answers.find((answer) => typeof answer === "string" && answer !== "");
  return typeof changed === "string" ? changed : text;
}

/** `post_llm_call`, for turns that ended with an answer. */
export async function afterAnswer(turn: Turn, text: string): Promise<void> {
  await runEndHook(turn, "post_llm_call", "done", {
    user_message: turn.userText,
    assistant_response: text,
    conversation_history: turn.state.log.messages as unknown as Json,
  });
}

/** `on_session_end`, which v0.14 runs at the end of every turn. */
export async function afterTurn(turn: Turn, end: TurnEnd): Promise<void> {
  await runEndHook(turn, "on_session_end", end, { completed: end === "done", interrupted: end === "interrupted" });
}
