// The official OpenAI SDK, reduced to what we use of it: one POST, one stream of JSON values.
import type OpenAI from "openai";
import type { Stream } from "openai/streaming";
import type { JsonObject } from "../../core/message.ts";
import type { TransportCall } from "./transport.ts";
import type { Wire } from "./wire.ts";

export interface OpenAiSdk {
  readonly Client: typeof OpenAI;
  readonly Stream: typeof Stream;
}

/** Load before the clock of a call starts: the first load takes longer than some limits. */
export async function loadOpenAi(): Promise<OpenAiSdk> {
  const [{ default: Client }, { Stream }] = await Promise.all([import("openai"), import("openai/streaming")]);
  return { Client, Stream };
}

/** A client for one call. Every setting that the SDK would otherwise take from the environment is given. */
function clientFor(sdk: OpenAiSdk, call: TransportCall, wire: Wire): OpenAI {
  return new sdk.Client({
    // The wire sets the real credentials; the SDK only insists on having some.
    apiKey: "set-by-wire",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: call.endpoint.baseUrl.replace(/\/+$/, ""),
    maxRetries: 0,
    timeout: Math.min(call.timeouts.totalMs, 2_147_483_647),
    logLevel: "off",
    fetch: wire.fetch,
  });
}

export interface Post {
  readonly call: TransportCall;
  readonly path: string;
  readonly body: JsonObject;
  readonly stream: boolean;
}

/** The JSON values of the answer: many when it streams, one when it does not. */
export async function* streamBody(sdk: OpenAiSdk, post: Post, wire: Wire): AsyncGenerator<JsonObject> {
  const client = clientFor(sdk, post.call, wire);
  // As text: for an object the SDK would load the platform's `fetch` to see whether it is a form.
  const body = JSON.stringify(post.body);
  const headers = { "content-type": "application/json" };
  const options = { body, headers, signal: wire.signal, stream: post.stream };
  const response = await client.post(post.path, options).asResponse();
  if (!post.stream || wire.isJson) {
    const value = (await response.json()) as JsonObject;
    // Some gateways answer an error with status 200.
    if (value.error) throw Object.assign(new Error("error in the answer"), { error: value.error });
    yield value;
    return;
  }
  const controller = new AbortController();
  const stop = () => controller.abort();
  wire.signal.addEventListener("abort", stop, { once: true });
  yield* sdk.Stream.fromSSEResponse<JsonObject>(response, controller, client);
}
