// The transports by name. The set remembers which hosts cannot stream.
import type { TransportName } from "../../core/model/provider.ts";
import { anthropicMessages } from "./anthropic-messages.ts";
import { chatCompletions } from "./chat-completions.ts";
import { codexResponses } from "./codex-responses.ts";
import { offline } from "./offline.ts";
import type { Transport } from "./transport.ts";

export function transportSet(): Readonly<Record<TransportName, Transport>> {
  return {
    chat_completions: chatCompletions(),
    anthropic_messages: anthropicMessages(),
    codex_responses: codexResponses(),
    offline: offline(),
  };
}
