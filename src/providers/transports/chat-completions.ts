// The chat-completions dialect and its transport.
import { CHAT_START, type ChatState, decodeChat, endChat, receivedChat } from "./chat-decode.ts";
import { encodeChat } from "./chat-encode.ts";
import type { Dialect } from "./dialect.ts";
import { exchange } from "./http-client.ts";
import { joinUrl, requestHeaders } from "./request-head.ts";
import { type Transport, type TransportCall, TransportError } from "./transport.ts";

export const chatDialect: Dialect<ChatState> = {
  name: "chat_completions",
  encode: (call, stream) => ({
    url: joinUrl(call.endpoint.baseUrl, "/chat/completions"),
    headers: requestHeaders(call, "bearer"),
    body: encodeChat(call, stream),
  }),
  initial: CHAT_START,
  decode: decodeChat,
  end: endChat,
  received: receivedChat,
};

function refusesStreaming(error: unknown): boolean {
  return (
    error instanceof TransportError &&
    error.kind === "http" &&
    /stream\w*[^.]{0,60}(not (supported|allowed|available)|unsupported)|(unsupported|does not support)[^.]{0,40}stream/i.test(
      error.body ?? "",
    )
  );
}

/** A transport that remembers which hosts cannot stream. */
export function chatCompletions(): Transport {
  const plainHosts = new Set<string>();
  const streams = (call: TransportCall) => !call.quirks.noStream && !plainHosts.has(call.endpoint.baseUrl);
  return {
    name: chatDialect.name,
    encode: (call) => encodeChat(call, streams(call)),
    async *stream(call) {
      if (!streams(call)) return yield* exchange(chatDialect, call, false);
      try {
        yield* exchange(chatDialect, call, true);
      } catch (error) {
        if (!refusesStreaming(error)) throw error;
        plainHosts.add(call.endpoint.baseUrl);
        yield* exchange(chatDialect, call, false);
      }
    },
  };
}
