// Builds a request from the state of the moment: frozen prefix, projected log, asides and scaffolding.
import type { Content, Message } from "../core/message.ts";
import { projectMessages } from "../core/projection.ts";
import type { ModelRequest, ToolSchema } from "../core/provider.ts";
import type { TurnScope } from "./turn-scope.ts";

const LARGEST_BOOST = 32_768;

function withTransientContext(content: Content, aside: string): Content {
  if (content === null) return aside;
  if (typeof content === "string") return `${content}\n\n${aside}`;
  return [...content, { type: "text", text: aside }];
}

function wireMessages(turn: TurnScope, scaffold: readonly Message[]): Message[] {
  const { messages } = turn.thread.log;
  const wire = [...messages, ...scaffold];
  if (turn.transientContext !== "") {
    const index = wire.lastIndexOf(turn.userMessage);
    const message = wire[index];
    if (message?.role === "user")
      wire[index] = { role: "user", content: withTransientContext(message.content, turn.transientContext) };
  }
  return projectMessages(wire);
}

/** A continued answer may be longer each time; the allowance never shrinks below the configured one. */
function outputAllowance(turn: TurnScope): number | undefined {
  const configured = turn.thread.parts.settings.maxOutputTokens;
  if (configured === undefined) return undefined;
  return Math.max(configured, Math.min(configured * (turn.judge.continuations + 1), LARGEST_BOOST));
}

export function buildRequest(
  turn: TurnScope,
  purpose: string,
  special: { readonly tools?: readonly ToolSchema[] | undefined; readonly scaffold?: readonly Message[] } = {},
): ModelRequest {
  const { log, tools, parts } = turn.thread;
  const { settings } = parts;
  const maxOutputTokens = outputAllowance(turn);
  return {
    system: log.system,
    messages: wireMessages(turn, special.scaffold ?? turn.scaffold),
    tools: special.tools ?? tools.schemas,
    conversationId: log.conversationId,
    sessionId: log.sessionId,
    purpose,
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    ...(settings.reasoningEffort === undefined ? {} : { reasoningEffort: settings.reasoningEffort }),
    ...(settings.jobId === undefined ? {} : { jobId: settings.jobId }),
  };
}
