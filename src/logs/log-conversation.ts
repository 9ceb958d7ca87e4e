// Writes what happens in a conversation to the log: turns, failed model calls and tools, compactions.
import type { Conversation } from "../core/conversation.ts";
import type { AgentEvent } from "../core/event.ts";
import type { Log, LogEntry } from "../core/log.ts";

type Entry = Omit<LogEntry, "sessionId">;

/** Undefined for events that are not logged. Message texts are never logged. */
function entryOf(event: AgentEvent): Entry | undefined {
  switch (event.type) {
    case "retrying":
      return {
        level: "WARNING",
        component: "agent.model",
        message: `retry ${event.attempt} in ${event.inMs} ms: ${event.failure.message}`,
        fields: { kind: event.failure.kind },
      };
    case "fallback":
      return {
        level: "WARNING",
        component: "agent.model",
        message: `${event.from.model} is replaced by ${event.to.model}: ${event.failure.message}`,
      };
    case "tool_ended":
      return {
        level: event.failed ? "WARNING" : "DEBUG",
        component: `tools.${event.name}`,
        message: event.failed ? `failed: ${event.preview}` : "done",
        fields: { ms: event.durationMs },
      };
    case "compressed":
      return {
        level: "INFO",
        component: "agent.compaction",
        message: `compacted from ${event.beforeTokens} to ${event.afterTokens} tokens, continues in ${event.sessionId}`,
        fields: { method: event.method },
      };
    case "notice":
      return { level: event.level === "warning" ? "WARNING" : "INFO", component: "agent", message: event.text };
    case "ended":
      return {
        level: event.end === "failed" ? "ERROR" : "INFO",
        component: "agent.turn",
        message: event.failure ? `${event.end}: ${event.failure.message}` : event.end,
        fields: { calls: event.modelCalls, usd: event.cost.usd },
      };
    default:
      return undefined;
  }
}

/** The same conversation; its events are logged as they pass. */
export function logConversation(conversation: Conversation, log: Log): void {
  const send = conversation.send.bind(conversation);
  conversation.send = async function* (input, options) {
    log.write({ level: "DEBUG", component: "agent.turn", message: "started", sessionId: conversation.sessionId });
    for await (const event of send(input, options)) {
      const entry = entryOf(event);
      if (entry) log.write({ ...entry, sessionId: conversation.sessionId });
      yield event;
    }
  };
}
