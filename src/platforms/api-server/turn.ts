// One turn for a client: events are passed on as they come, and what clients want to know is gathered.
import type { AgentEvent } from "../../core/event.ts";
import type { Message } from "../../core/message.ts";
import { NO_USAGE, promptTokens, type Usage } from "../../core/usage.ts";
import type { OpenedSession } from "./sessions.ts";

export interface TurnResult {
  readonly end: "done" | "interrupted" | "budget" | "failed";
  readonly text: string;
  readonly usage: Usage;
  readonly sessionId: string;
  readonly finishReason: "stop" | "length" | "content_filter" | "error";
  /** Assistant and tool messages of the turn, in order. */
  readonly messages: readonly Message[];
  /** For the client: what went wrong and what to do. */
  readonly problem?: string | undefined;
}

function finishOf(ended: Extract<AgentEvent, { type: "ended" }>, messages: readonly Message[]) {
  if (ended.end === "failed" || ended.end === "interrupted") return "error";
  const last = messages.findLast((message) => message.role === "assistant");
  const finish = last?.role === "assistant" ? last.finish_reason : undefined;
  if (ended.end === "done" && finish === "content_filter") return "content_filter";
  return ended.end === "budget" || finish === "length" ? "length" : "stop";
}

function problemOf(ended: Extract<AgentEvent, { type: "ended" }>): string | undefined {
  if (ended.failure) return [ended.failure.message, ended.failure.hint].filter(Boolean).join(" ");
  if (ended.end === "interrupted") return "The run was stopped.";
  return undefined;
}

/** Runs the turn to its end; `onEvent` may be slow, and the turn waits for it. */
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
    messages,
    problem: "The run ended without a result.",
  };
  for await (const event of session.opened.conversation.send(session.input, { signal })) {
    if (event.type === "message" && event.message.role !== "user") messages.push(event.message);
    if (event.type === "ended") {
      const problem = problemOf(event);
      result = {
        end: event.end,
        text: event.text,
        usage: event.usage,
        sessionId: event.sessionId,
        finishReason: finishOf(event, messages),
        messages,
        ...(problem === undefined ? {} : { problem }),
      };
    }
    await onEvent(event);
  }
  return result;
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

/** Names that start with an underscore are the agent's own affair. */
export function isShown(toolName: string): boolean {
  return !toolName.startsWith("_");
}
