// The Anthropic Messages dialect and its transport.
import {
  ANTHROPIC_START,
  type AnthropicState,
  decodeAnthropic,
  endAnthropic,
  receivedAnthropic,
} from "./anthropic-decode.ts";
import { encodeAnthropic } from "./anthropic-encode.ts";
import type { Dialect } from "./dialect.ts";
import { httpTransport } from "./http-client.ts";
import { joinUrl, requestHeaders } from "./request-head.ts";
import type { Transport } from "./transport.ts";

export const anthropicDialect: Dialect<AnthropicState> = {
  name: "anthropic_messages",
  encode: (call, stream) => ({
    // The base URL may be given with or without its version.
    url: joinUrl(call.endpoint.baseUrl.replace(/\/+$/, "").replace(/\/v1$/, ""), "/v1/messages"),
    headers: requestHeaders(call, "x-api-key", { "anthropic-version": "2023-06-01" }),
    body: encodeAnthropic(call, stream),
  }),
  initial: ANTHROPIC_START,
  decode: decodeAnthropic,
  end: endAnthropic,
  received: receivedAnthropic,
};

export function anthropicMessages(): Transport {
  return httpTransport(anthropicDialect);
}
