import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { transportCall } from "../../../test/kit/transport-call.ts";
import { MAX_TOOL_CALLS } from "./answer.ts";
import { anthropicDialect } from "./anthropic-messages.ts";
import { chatDialect } from "./chat-completions.ts";
import { responsesDialect } from "./codex-responses.ts";
import type { DecodeEnd, DecodeState, Dialect, WireEvent } from "./dialect.ts";
import { decodeError } from "./exchange-errors.ts";
import { sseEvents } from "./sse.ts";
import type { StreamedEvent } from "./transport.ts";

const { request } = transportCall();
const bytes = (text: string) => new TextEncoder().encode(text);
const recorded = (name: string) =>
  readFileSync(new URL(`../../../test/fixtures/wire/${name}.sse`, import.meta.url)) as Uint8Array;

type Decoded = readonly (StreamedEvent | DecodeEnd)[];

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) freeze(item);
  }
  return value;
}

/** Decodes frozen states, so that a decoder that changes its input throws. */
function decodeAll<State extends DecodeState>(dialect: Dialect<State>, events: readonly WireEvent[]): Decoded {
  let state = freeze(dialect.initial);
  const streamed: StreamedEvent[] = [];
  for (const event of events) {
    const [next, pieces] = dialect.decode(state, event);
    state = freeze(next);
    streamed.push(...pieces);
  }
  return [...streamed, ...dialect.end(state, request)];
}

async function events(body: Uint8Array, sizes: readonly number[] = []): Promise<WireEvent[]> {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(body.subarray(at, at + size));
    at += size;
  }
  pieces.push(body.subarray(at));
  const found: WireEvent[] = [];
  for await (const event of sseEvents(pieces)) found.push(event);
  return found;
}

const DIALECTS: {
  readonly [name: string]: { decode(events: readonly WireEvent[]): Decoded; readonly files: readonly string[] };
} = {
  chat: {
    decode: (list) => decodeAll(chatDialect, list),
    files: ["chat-openai-text", "chat-openai-parallel-calls", "chat-openrouter-reasoning", "chat-local-think-tags"],
  },
  anthropic: {
    decode: (list) => decodeAll(anthropicDialect, list),
    files: ["anthropic-thinking-tools", "anthropic-refusal"],
  },
  responses: {
    decode: (list) => decodeAll(responsesDialect, list),
    files: ["responses-codex", "responses-failed"],
  },
};

const isEnd = (event: StreamedEvent | DecodeEnd) => event.type === "done" || event.type === "failed";

function expectOneEnd(decoded: Decoded): void {
  expect(decoded.filter(isEnd)).toHaveLength(1);
  expect(isEnd(decoded.at(-1) as StreamedEvent | DecodeEnd)).toBe(true);
}

/** JSON with the field names and event types of all dialects. */
const FIELDS =
  "type index delta content_block message content text thinking signature input partial_json id name usage stop_reason choices tool_calls function arguments finish_reason reasoning_details reasoning_content refusal item output output_index response status incomplete_details call_id object error summary".split(
    " ",
  );
const VALUES =
  "message_start content_block_start content_block_delta content_block_stop message_delta message_stop error text_delta thinking_delta signature_delta input_json_delta text thinking tool_use response.output_text.delta response.reasoning_text.delta response.output_item.added response.output_item.done response.function_call_arguments.delta response.completed response.incomplete response.failed response function_call message reasoning failed incomplete constructor __proto__ stop".split(
    " ",
  );
const wireJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: "medium" },
    fc.constantFrom(...VALUES, null, true, 0, 1, -1, 1e300, "", "<think>", "{"),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(fc.constantFrom(...FIELDS), tie("value"), { maxKeys: 7 }),
})).object;

describe.each(Object.entries(DIALECTS))("decoding %s", (_name, { decode, files }) => {
  test.each(files)("%s: one end, the same wherever the bytes are cut", async (file) => {
    const body = recorded(file);
    const whole = decode(await events(body));
    expectOneEnd(whole);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(200), { maxLength: 30 }), async (sizes) => {
        expect(decode(await events(body, sizes))).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  test("any bytes, any cut: never throws, ends with exactly one end", async () => {
    const noise = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.string().map((text) => bytes(`data: ${text}\n\n`)),
      fc.json().map((json) => bytes(`data: ${json}\n\n`)),
      fc.tuple(fc.constantFrom(...files), fc.nat(4000), fc.nat(600)).map(([file, from, length]) => {
        return recorded(file).subarray(from, from + length);
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(noise, { maxLength: 6 }), fc.array(fc.nat(50)), async (parts, sizes) => {
        expectOneEnd(decode(await events(Buffer.concat(parts), sizes)));
      }),
      { numRuns: 300 },
    );
  });

  test("any JSON with the names of the wire, streamed or whole: never throws, exactly one end", () => {
    const event = fc.record({
      event: fc.constantFrom("", "", "", "error", "message_stop"),
      data: wireJson.map((value) => JSON.stringify(value)),
      whole: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (list) => expectOneEnd(decode(list))),
      { numRuns: 1000 },
    );
  });

  test("an error after the end of the answer is ignored", async () => {
    const list = await events(recorded(files[0] ?? ""));
    const broken = [...list, { event: "error", data: "{}", whole: false }, { event: "", data: "{junk", whole: false }];
    expect(decode(broken)).toEqual(decode(list));
  });
});

describe("an answer with 100,000 tool calls fails in a short time", () => {
  const COUNT = 100_000;
  const failed = { type: "failed", failure: { kind: "too_many_calls" } };
  const wire = (value: unknown, whole = false): WireEvent => ({ event: "", data: JSON.stringify(value), whole });
  const list = <T>(make: (index: number) => T, count = COUNT) => Array.from({ length: count }, (_, at) => make(at));
  const chatCall = (index: number) => ({ index, id: `c${index}`, function: { name: "f", arguments: "{}" } });
  const toolUse = (index: number) => ({ type: "tool_use", id: `c${index}`, name: "f", input: {} });
  const item = (index: number) => ({ type: "function_call", call_id: `c${index}`, name: "f", arguments: "{}" });
  const chunk = (index: number) => wire({ choices: [{ delta: { tool_calls: [chatCall(index)] } }] });

  test.each<[string, () => Decoded]>([
    ["chat, streamed", () => decodeAll(chatDialect, list(chunk))],
    [
      "chat, in one event",
      () =>
        decodeAll(chatDialect, [
          wire({ choices: [{ message: { tool_calls: list(chatCall) }, finish_reason: "tool_calls" }] }, true),
        ]),
    ],
    [
      "anthropic, streamed",
      () =>
        decodeAll(
          anthropicDialect,
          list((index) => wire({ type: "content_block_start", index, content_block: toolUse(index) })),
        ),
    ],
    ["anthropic, in one event", () => decodeAll(anthropicDialect, [wire({ content: list(toolUse) }, true)])],
    [
      "responses, streamed",
      () =>
        decodeAll(
          responsesDialect,
          list((index) => wire({ type: "response.output_item.done", output_index: index, item: item(index) })),
        ),
    ],
    [
      "responses, in one event",
      () => decodeAll(responsesDialect, [wire({ type: "response.completed", response: { output: list(item) } })]),
    ],
  ])("%s", (_name, decode) => {
    const started = performance.now();
    expect(decode().at(-1)).toEqual(failed);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test("the limit itself is allowed, and the error names it", () => {
    const ended = (count: number) =>
      decodeAll(chatDialect, [...list(chunk, count), wire({ choices: [{ finish_reason: "tool_calls" }] })]).at(-1);
    expect(ended(MAX_TOOL_CALLS)).toMatchObject({ type: "done", finishReason: "tool_calls" });
    expect(ended(MAX_TOOL_CALLS + 1)).toEqual(failed);
    expect(decodeError({ kind: "too_many_calls" }, null, {})).toMatchObject({
      kind: "malformed",
      message: "the answer has more than 512 tool calls",
    });
  });
});

test("errors in the stream stop decoding", () => {
  const error = { message: "Overloaded", type: "overloaded_error" };
  const event = { event: "", data: JSON.stringify({ type: "error", error }), whole: false };
  const text = { event: "", data: JSON.stringify({ choices: [{ delta: { content: "late" } }] }), whole: false };
  for (const { decode } of Object.values(DIALECTS))
    expect(decode([event, text])).toMatchObject([{ type: "failed", failure: { kind: "stream_error" } }]);
});

test("an unknown finish reason is a stop, even with the name of an object's method", () => {
  const choice = { delta: { content: "Hi" }, finish_reason: "constructor" };
  const event = { event: "", data: JSON.stringify({ choices: [choice] }), whole: false };
  expect(DIALECTS.chat?.decode([event]).at(-1)).toMatchObject({ type: "done", finishReason: "stop" });
});

test("requests have the path, the version and the key that their API requires", () => {
  const at = (baseUrl: string) => transportCall({ baseUrl });
  const slashed = at("https://host.test/v1//");
  expect([chatDialect, responsesDialect].map((dialect) => dialect.encode(slashed, true).url)).toEqual([
    "https://host.test/v1/chat/completions",
    "https://host.test/v1/responses",
  ]);
  for (const base of ["https://host.test", "https://host.test/", "https://host.test/v1", "https://host.test/v1/"])
    expect(anthropicDialect.encode(at(base), true).url).toBe("https://host.test/v1/messages");
  expect(chatDialect.encode(slashed, true).headers).toEqual({
    accept: "application/json",
    "content-type": "application/json",
    "user-agent": "hermes-ts",
    authorization: "Bearer test-key",
  });
  expect(anthropicDialect.encode(slashed, true).headers).toMatchObject({
    "anthropic-version": "2023-06-01",
    "x-api-key": "test-key",
  });
  const endpoint = { baseUrl: "https://host.test", apiKey: "k", headers: { "User-Agent": "mine" } };
  const own = anthropicDialect.encode(transportCall({ endpoint: { ...endpoint, authStyle: "bearer" } }), true).headers;
  expect(own).toMatchObject({ "user-agent": "mine", authorization: "Bearer k" });
  expect(own["x-api-key"]).toBeUndefined();
});
