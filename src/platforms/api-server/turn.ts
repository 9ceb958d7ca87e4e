// Runs one turn for a client: passes events on and collects the result.
import type { AgentEvent } from "../../core/event.ts";
import type { AssistantMessage, Message, ToolCall } from "../../core/message.ts";
import { NO_USAGE, promptTokens, type Usage } from "../../core/store/usage.ts";
import type { OpenedSession } from "./sessions.ts";

export interface TurnResult {
  readonly end: "done" | "interrupted" | "budget" | "failed";
  readonly text: string;
  readonly usage: Usage;
  readonly sessionId: string;
  readonly finishReason: "stop" | "length" | "content_filter" | "error" | "tool_calls";
  /** Calls of the client's own tools. */
  readonly clientCalls: readonly ToolCall[];
  /** Assistant and tool messages of the turn, in order. */
  readonly messages: readonly Message[];
  /** The error and its hint, for the client. */
  readonly problem?: string | undefined;
}

function toFinishReason(ended: Extract<AgentEvent, { type: "ended" }>, messages: readonly Message[]) {
  if (ended.end === "failed" || ended.end === "interrupted") return "error";
  if (ended.clientCalls !== undefined) return "tool_calls";
  const last = messages.findLast((message) => message.role === "assistant");
  const finish = last?.role === "assistant" ? last.finish_reason : undefined;
  if (ended.end === "done" && finish === "content_filter") return "content_filter";
  return ended.end === "budget" || finish === "length" ? "length" : "stop";
}

function findProblem(ended: Extract<AgentEvent, { type: "ended" }>): string | undefined {
  if (ended.failure) return [ended.failure.message, ended.failure.hint].filter(Boolean).join(" ");
  if (ended.end === "interrupted") return "The run was stopped.";
  return undefined;
}

/** Runs the turn to its end and waits for each `onEvent`. */
export async function runTurn(
  session: OpenedSession,
  signal: AbortSignal,
  onEvent: (event: AgentEvent) => void | Promise<void> = () => undefined,
): Promise<TurnResult> {
  const messages: Message[] = [];
  let result: TurnResult = {
    end: "failed",
    text: "",
    usage: NO_USAGE,
    sessionId: session.sessionId,
    finishReason: "error",
    clientCalls: [],
    messages,
    problem: "The run ended without a result.",
  };
  const { conversation } = session.opened;
  const events = session.results
    ? conversation.continueWith(session.results, { signal })
    : conversation.send(session.input, { signal });
  for await (const event of events) {
    if (event.type === "message" && event.message.role !== "user") messages.push(event.message);
    if (event.type === "ended") {
      const problem = findProblem(event);
      result = {
        end: event.end,
        text: event.text,
        usage: event.usage,
        sessionId: event.sessionId,
        finishReason: toFinishReason(event, messages),
        clientCalls: event.clientCalls ?? [],
        messages,
        problem,
      };
    }
    await onEvent(event);
  }
  return result;
}

/** The answer as the client will send it back in its next request. */
export function answerMessage({ clientCalls }: TurnResult, text: string): AssistantMessage {
  if (clientCalls.length === 0) return { role: "assistant", content: text };
  return { role: "assistant", content: text, tool_calls: clientCalls };
}

export function chatUsage(usage: Usage) {
  const prompt = promptTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

export function responsesUsage(usage: Usage) {
  const prompt = promptTokens(usage);
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: prompt + usage.output,
  };
}

/** Names that start with an underscore are internal. */
export function isShown(toolName: string): boolean {
  return !toolName.startsWith("_");
}
