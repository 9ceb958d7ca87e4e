// The Responses dialect and its transport.
import type { Dialect } from "./dialect.ts";
import { httpTransport } from "./http-client.ts";
import { joinUrl, requestHeaders } from "./request-head.ts";
import {
  decodeResponses,
  endResponses,
  RESPONSES_START,
  type ResponsesState,
  receivedResponses,
} from "./responses-decode.ts";
import { encodeResponses } from "./responses-encode.ts";
import type { Transport } from "./transport.ts";

export const responsesDialect: Dialect<ResponsesState> = {
  name: "codex_responses",
  encode: (call, stream) => ({
    url: joinUrl(call.endpoint.baseUrl, "/responses"),
    headers: requestHeaders(call, "bearer"),
    body: encodeResponses(call, stream),
  }),
  initial: RESPONSES_START,
  decode: decodeResponses,
  end: endResponses,
  received: receivedResponses,
};

export function codexResponses(): Transport {
  return httpTransport(responsesDialect);
}
