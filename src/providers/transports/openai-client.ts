// The official OpenAI SDK, reduced to what we use of it: one POST. Its stream of JSON values we read ourselves.
import type OpenAI from "openai";
import type { JsonObject } from "../../core/message.ts";
import { sseMessages } from "./sse.ts";
import type { TransportCall } from "./transport.ts";
import type { Wire } from "./wire.ts";

const MAX_TIMER = 2_147_483_647;

type WithWire = RequestInit & { readonly wire: Wire };

/** One client for all calls, because making one costs more than a call. Each call brings its address and its wire. */
async function load(): Promise<OpenAI> {
  const { default: Client } = await import("openai");
  const client = new Client({
    // The wire sets the real credentials; the SDK only insists on having some. Whatever it would take from the
    // environment is given.
    apiKey: "set-by-wire",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: "http://set-by-call.invalid",
    maxRetries: 0,
    logLevel: "off",
    fetch: (input, init) => (init as WithWire).wire.fetch(input, init),
  });
  return client;
}

let loading: Promise<OpenAI> | undefined;

/** Load before the clock of a call starts: the first load takes longer than some limits. */
export async function loadOpenAi(): Promise<OpenAI> {
  loading ??= load();
  return loading;
}

export interface PostOptions {
  readonly call: TransportCall;
  readonly path: string;
  readonly body: JsonObject;
  readonly stream: boolean;
}

/** The JSON values of the answer: many when it streams, one when it does not. */
export async function* streamBody(client: OpenAI, post: PostOptions, wire: Wire): AsyncGenerator<JsonObject> {
  const { endpoint, timeouts } = post.call;
  const url = `${endpoint.baseUrl.replace(/\/+$/, "")}${post.path}`;
  // As text: for an object the SDK would load the platform's `fetch` to see whether it is a form.
  const body = JSON.stringify(post.body);
  const headers = { "content-type": "application/json" };
  const timeout = Math.max(1, Math.min(Math.floor(timeouts.totalMs), MAX_TIMER));
  const fetchOptions = { wire } as object;
  const options = { body, headers, signal: wire.signal, stream: post.stream, timeout, fetchOptions };
  const response = await client.post(url, options).asResponse();
  if (!post.stream || wire.isJson) {
    const value = (await response.json()) as JsonObject;
    // Some gateways answer an error with status 200.
    if (value.error) throw Object.assign(new Error("error in the answer"), { error: value.error });
    yield value;
    return;
  }
  let done = false;
  // Read to the end also after the last message: only then the connection serves the next call.
  for await (const { data } of sseMessages((response.body ?? []) as AsyncIterable<Uint8Array>)) {
    done ||= data.startsWith("[DONE]");
    if (done || data === "") continue;
    const value = JSON.parse(data) as JsonObject;
    if (value?.error) throw Object.assign(new Error("error in the answer"), { error: value.error });
    yield value;
  }
}
