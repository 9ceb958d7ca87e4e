// The official OpenAI SDK, reduced to what we use of it: one POST, one stream of JSON values.
import type OpenAI from "openai";
import type { Stream } from "openai/streaming";
import type { JsonObject } from "../../core/message.ts";
import type { TransportCall } from "./transport.ts";
import type { Wire } from "./wire.ts";

export interface OpenAiSdk {
  readonly client: OpenAI;
  readonly Stream: typeof Stream;
}

const MAX_TIMER = 2_147_483_647;

type WithWire = RequestInit & { readonly wire: Wire };

/** One client for all calls, because making one costs more than a call. Each call brings its address and its wire. */
async function load(): Promise<OpenAiSdk> {
  const [{ default: Client }, { Stream }] = await Promise.all([import("openai"), import("openai/streaming")]);
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
  return { client, Stream };
}

let loading: Promise<OpenAiSdk> | undefined;

/** Load before the clock of a call starts: the first load takes longer than some limits. */
export async function loadOpenAi(): Promise<OpenAiSdk> {
  loading ??= load();
  return loading;
}

export interface Post {
  readonly call: TransportCall;
  readonly path: string;
  readonly body: JsonObject;
  readonly stream: boolean;
}

/** The JSON values of the answer: many when it streams, one when it does not. */
export async function* streamBody(sdk: OpenAiSdk, post: Post, wire: Wire): AsyncGenerator<JsonObject> {
  const { client } = sdk;
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
  const controller = new AbortController();
  wire.signal.addEventListener("abort", () => controller.abort(wire.signal.reason), { once: true });
  yield* sdk.Stream.fromSSEResponse<JsonObject>(response, controller, client);
}
