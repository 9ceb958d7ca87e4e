// Store operations, for our store and as calls of Hermes Agent v0.14, and random lists of them.
import fc from "fast-check";
import type { NewMessage } from "../../src/core/store/session.ts";
import type { FullStore } from "../../src/store/full-store.ts";
import type { ReferenceCall } from "./reference.ts";

export interface Operation extends ReferenceCall {
  run(store: FullStore): Promise<unknown>;
}

/** A call into the reference, and the same on our store. */
function op(call: string, args: object, run: (store: FullStore) => Promise<unknown>): Operation {
  return { call: `db.${call}`, args: args as { readonly [name: string]: unknown }, run };
}

export function createSession(
  id: string,
  source: string,
  more: { model?: string; parent?: string; config?: { [key: string]: string }; prompt?: string; user?: string } = {},
): Operation {
  const { model, parent, config, prompt, user } = more;
  return op(
    "create_session",
    {
      session_id: id,
      source,
      ...(model && { model }),
      ...(config && { model_config: config }),
      ...(prompt && { system_prompt: prompt }),
      ...(user && { user_id: user }),
      ...(parent && { parent_session_id: parent }),
    },
    (store) =>
      store.createSession({
        id,
        source,
        ...(model && { model }),
        ...(config && { modelConfig: config }),
        ...(prompt && { systemPrompt: prompt }),
        ...(user && { userId: user }),
        ...(parent && { parentSessionId: parent }),
      }),
  );
}

export function append(id: string, message: NewMessage): Operation {
  return op("append_message", { session_id: id, ...message }, (store) => store.appendMessage(id, message));
}

export function replace(id: string, messages: readonly NewMessage[]): Operation {
  return op("replace_messages", { session_id: id, messages }, (store) => store.replaceMessages(id, messages));
}

export function clear(id: string): Operation {
  return op("clear_messages", { session_id: id }, (store) => store.clearMessages(id));
}

export function end(id: string, reason: string): Operation {
  return op("end_session", { session_id: id, end_reason: reason }, (store) => store.endSession(id, reason));
}

export function reopen(id: string): Operation {
  return op("reopen_session", { session_id: id }, (store) => store.reopenSession(id));
}

export function remove(id: string): Operation {
  return op("delete_session", { session_id: id }, (store) => store.deleteSession(id));
}

export function title(id: string, text: string): Operation {
  return op("set_session_title", { session_id: id, title: text }, (store) => store.setSessionTitle(id, text));
}

export function meta(key: string, value: string): Operation {
  return op("set_meta", { key, value }, (store) => store.setMeta(key, value));
}

export function handoff(step: "request" | "claim" | "complete" | "fail", id: string): Operation {
  if (step === "request") {
    return op("request_handoff", { session_id: id, platform: "telegram" }, (store) =>
      store.requestHandoff(id, "telegram"),
    );
  }
  if (step === "fail") {
    const error = "because ".repeat(80);
    return op("fail_handoff", { session_id: id, error }, (store) => store.failHandoff(id, error));
  }
  return op(`${step}_handoff`, { session_id: id }, (store) =>
    step === "claim" ? store.claimHandoff(id) : store.completeHandoff(id),
  );
}

export function bindTopic(thread: string, id: string): Operation {
  const args = { chat_id: "c", thread_id: thread, user_id: "u", session_key: "agent:main:telegram:dm:c" };
  return op("bind_telegram_topic", { ...args, session_id: id }, (store) =>
    store.bindTelegramTopic({
      chatId: "c",
      threadId: thread,
      userId: "u",
      sessionKey: args.session_key,
      sessionId: id,
    }),
  );
}

export function tokens(id: string, update: { input?: number; cost?: number; paid?: number; absolute?: boolean }) {
  const { input = 0, cost, paid, absolute = false } = update;
  const money = { ...(cost !== undefined && { cost }), ...(paid !== undefined && { paid }) };
  return op(
    "update_token_counts",
    {
      session_id: id,
      input_tokens: input,
      output_tokens: 2,
      cache_read_tokens: 3,
      cache_write_tokens: 4,
      reasoning_tokens: 5,
      api_call_count: 1,
      model: "late-model",
      cost_status: "estimated",
      cost_source: "table",
      pricing_version: "1",
      billing_provider: "p",
      billing_base_url: "http://127.0.0.1/v1",
      billing_mode: "api",
      absolute,
      ...(money.cost !== undefined && { estimated_cost_usd: money.cost }),
      ...(money.paid !== undefined && { actual_cost_usd: money.paid }),
    },
    (store) =>
      store.updateTokenCounts(id, {
        inputTokens: input,
        outputTokens: 2,
        cacheReadTokens: 3,
        cacheWriteTokens: 4,
        reasoningTokens: 5,
        apiCallCount: 1,
        model: "late-model",
        costStatus: "estimated",
        costSource: "table",
        pricingVersion: "1",
        billingProvider: "p",
        billingBaseUrl: "http://127.0.0.1/v1",
        billingMode: "api",
        absolute,
        ...(money.cost !== undefined && { estimatedCostUsd: money.cost }),
        ...(money.paid !== undefined && { actualCostUsd: money.paid }),
      }),
  );
}

export const IDS = ["a", "a_1", "b", "c%", "d"] as const;
const id = fc.constantFrom(...IDS);
const word = fc.constantFrom(
  "deploy the docker-compose file",
  "备份数据库 now",
  "サーバーの設定",
  "my_app.config.ts is 100% wrong",
  "what's up? foo/bar",
  "  spaced\r\nlines\t ",
  "<memory-context>hidden</memory-context> shown",
  "a\u0000b",
  "\u0000json:{broken",
  "",
  "emoji 🎉 and ẞ ß İ",
  "word ".repeat(30),
);
const text = fc.oneof({ weight: 4, arbitrary: word }, fc.string({ unit: "grapheme", maxLength: 12 }));
const parts = fc.array(
  fc.oneof(
    text.map((value) => ({ type: "text" as const, text: value })),
    fc.constant({ type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } }),
  ),
  { maxLength: 3 },
);
const content = fc.oneof({ weight: 3, arbitrary: text }, fc.constant(null), parts, fc.constant({ odd: "object" }));
const calls = fc.array(
  text.map((value) => ({
    id: "call_1",
    type: "function" as const,
    function: { name: "terminal", arguments: JSON.stringify({ command: value }) },
  })),
  { maxLength: 2 },
);
const message: fc.Arbitrary<NewMessage> = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "system", "session_meta"), content }),
  fc.record({
    role: fc.constant("assistant"),
    content,
    tool_calls: calls,
    finish_reason: fc.constantFrom("stop", "tool_calls", "", null),
    reasoning: fc.option(text, { nil: null }),
    reasoning_content: fc.constantFrom("", "step by step", null),
    reasoning_details: fc.constantFrom([], [{ type: "thinking", signature: "s" }], null),
    codex_reasoning_items: fc.constantFrom([{ id: "r" }], {}, null),
    codex_message_items: fc.constantFrom([{ id: "m" }], null),
    token_count: fc.constantFrom(7, null),
  }),
  fc.record({
    role: fc.constant("tool"),
    content: text,
    tool_name: fc.constantFrom("terminal", "read_file"),
    tool_call_id: fc.constant("call_1"),
  }),
);

const creation = fc
  .record({ id, source: fc.constantFrom("cli", "telegram", "tool"), parent: fc.option(id, { nil: undefined }) })
  .map(({ id: name, source, parent }) =>
    createSession(name, source, { model: "m", user: "u", ...(parent && parent !== name ? { parent } : {}) }),
  );

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 3, arbitrary: creation },
  { weight: 8, arbitrary: fc.tuple(id, message).map(([name, item]) => append(name, item)) },
  fc.tuple(id, fc.array(message, { maxLength: 3 })).map(([name, list]) => replace(name, list)),
  id.map(clear),
  { weight: 2, arbitrary: fc.tuple(id, fc.constantFrom("compression", "branched", "cli_close")).map((a) => end(...a)) },
  id.map(reopen),
  id.map(remove),
  {
    weight: 2,
    arbitrary: fc
      .tuple(id, fc.constantFrom("Plan", "Plan #2", "plan", "100% #3", " a\u200b\n b "))
      .map((a) => title(...a)),
  },
  fc.tuple(fc.constantFrom("k", "l"), text).map((a) => meta(...a)),
  fc.tuple(fc.constantFrom("request", "claim", "complete", "fail"), id).map((a) => handoff(...a)),
  fc.tuple(fc.constantFrom("1", "2"), id).map((a) => bindTopic(...a)),
  fc
    .tuple(
      id,
      fc.record({
        input: fc.nat(9),
        cost: fc.constantFrom(0.5, undefined),
        paid: fc.constantFrom(0.25, undefined),
        absolute: fc.boolean(),
      }),
    )
    .map(([name, { cost, paid, ...rest }]) =>
      tokens(name, { ...rest, ...(cost !== undefined && { cost }), ...(paid !== undefined && { paid }) }),
    ),
);

/** Lists of operations that begin with every session, so that most of the rest has something to act on. */
export const histories: fc.Arbitrary<Operation[]> = fc
  .array(operation, { minLength: 20, maxLength: 60 })
  .map((list) => [createSession("a", "cli"), createSession("b", "telegram", { parent: "a" }), ...list]);
