// Redacts secrets in a message before it is stored. Signed provider data is left as it is: a change would invalidate it.
import type { AssistantMessage, Content, Json, Message, ToolCall } from "../core/message.ts";
import type { Redactor } from "../core/redactor.ts";

/** With `code`, assignments in source code are not redacted. */
export function redactContent(content: Content, redactor: Redactor, code: boolean): Content {
  if (content === null) return null;
  if (typeof content === "string") return redactor.redact(content, { code });
  return content.map((part) =>
    part.type === "text" ? { type: "text", text: redactor.redact(part.text, { code }) } : part,
  );
}

function redactJson(value: Json | undefined, redactor: Redactor): Json | undefined {
  if (typeof value === "string") return redactor.redact(value, { code: true });
  if (Array.isArray(value)) return value.map((item: Json) => redactJson(item, redactor) ?? null);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redactJson(item, redactor)]));
}

/** Redacts each string of the arguments, so that the text stays JSON. */
export function redactArguments(text: string, redactor: Redactor): string {
  try {
    const value = JSON.parse(text) as Json;
    const redacted = JSON.stringify(redactJson(value, redactor));
    return redacted === JSON.stringify(value) ? text : redacted;
  } catch {
    return redactor.redact(text, { code: true });
  }
}

function redactCall(call: ToolCall, redactor: Redactor): ToolCall {
  const text = redactArguments(call.function.arguments, redactor);
  return text === call.function.arguments ? call : { ...call, function: { ...call.function, arguments: text } };
}

function redactAssistant(message: AssistantMessage, redactor: Redactor): AssistantMessage {
  return {
    ...message,
    content: redactContent(message.content, redactor, false),
    ...(message.reasoning === undefined ? {} : { reasoning: redactor.redact(message.reasoning) }),
    ...(message.reasoning_content === undefined
      ? {}
      : { reasoning_content: redactor.redact(message.reasoning_content) }),
    ...(message.tool_calls === undefined
      ? {}
      : { tool_calls: message.tool_calls.map((call) => redactCall(call, redactor)) }),
  };
}

export function redactMessage(message: Message, redactor: Redactor | undefined): Message {
  if (redactor === undefined) return message;
  if (message.role === "assistant") return redactAssistant(message, redactor);
  return { ...message, content: redactContent(message.content, redactor, message.role === "tool") };
}
