// The hook for incoming messages: plugins may drop a message, change its text or let it pass.
import type { Hooks } from "../../core/hook.ts";
import type { JsonObject } from "../../core/message.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";

function about({ event }: InboxRow): JsonObject {
  const { source } = event;
  return {
    text: event.text,
    message_id: event.messageId,
    platform: source.platform,
    chat_id: source.chatId,
    chat_type: source.chatKind,
    chat_name: source.chatName ?? null,
    thread_id: source.threadId ?? null,
    user_id: source.userId,
    user_name: source.userName ?? null,
    media_types: (event.attachments ?? []).map((attachment) => attachment.mime ?? attachment.kind),
  };
}

/** The message to handle, or null when a plugin dropped it. The first plugin with a decision wins. */
export async function dispatchHook(hooks: Hooks, row: InboxRow): Promise<InboxRow | null> {
  const { event } = row;
  if (event.internal || event.press || !hooks.listens("pre_gateway_dispatch")) return row;
  for (const answer of await hooks.run("pre_gateway_dispatch", { event: about(row) })) {
    const { action, text } = (answer ?? {}) as { readonly action?: unknown; readonly text?: unknown };
    if (action === "skip") return null;
    if (action === "allow") return row;
    if (action === "rewrite" && typeof text === "string") return { ...row, event: { ...event, text } };
  }
  return row;
}
