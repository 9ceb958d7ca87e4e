// Random operations on a store and on a simple model of it agree after every step, on every host.
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { NewMessage } from "../src/core/store/session.ts";
import type { FullStore } from "../src/store/full-store.ts";
import { HOSTS } from "./kit/store-fixture.ts";
import { tempDir } from "./kit/temp-dir.ts";

interface ModelSession {
  source: string;
  parent: string | null;
  title: string | null;
  end: string | null;
  tokens: number;
  messages: NewMessage[];
}

type Model = Map<string, ModelSession>;

interface Operation {
  readonly name: string;
  run(store: FullStore, model: Model): Promise<void>;
}

const id = fc.constantFrom("a", "b", "c", "d");
const text = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("备份", "a\u0000b", "", "it's 100%"));
const content = fc.oneof(
  text,
  fc.constant(null),
  fc.array(
    text.map((value) => ({ type: "text" as const, text: value })),
    { maxLength: 2 },
  ),
);
const message: fc.Arbitrary<NewMessage> = fc.record({
  role: fc.constantFrom("user", "assistant", "tool"),
  content,
  reasoning: fc.option(text, { nil: null }),
});

/** Every failure that the model expects must happen, and no other. */
async function attempt(action: Promise<unknown>, allowed: boolean): Promise<boolean> {
  const failed = await action.then(
    () => false,
    () => true,
  );
  expect(failed).toBe(!allowed);
  return !failed;
}

const create = fc.record({ id, parent: fc.option(id, { nil: null }) }).map(
  (args): Operation => ({
    name: `create ${args.id} under ${args.parent}`,
    async run(store, model) {
      const allowed = args.parent === null || args.parent === args.id || model.has(args.parent);
      const session = { id: args.id, source: "cli", ...(args.parent ? { parentSessionId: args.parent } : {}) };
      // An existing row is left alone before its parent matters.
      if (!(await attempt(store.createSession(session), allowed || model.has(args.id)))) return;
      if (model.has(args.id)) return;
      model.set(args.id, { source: "cli", parent: args.parent, title: null, end: null, tokens: 0, messages: [] });
    },
  }),
);

const append = fc.record({ id, batch: fc.array(message, { minLength: 1, maxLength: 3 }) }).map(
  (args): Operation => ({
    name: `append ${args.batch.length} to ${args.id}`,
    async run(store, model) {
      if (await attempt(store.appendMessages(args.id, args.batch), model.has(args.id))) {
        model.get(args.id)?.messages.push(...args.batch);
      }
    },
  }),
);

const title = fc.record({ id, title: fc.constantFrom("One", "Two", "") }).map(
  (args): Operation => ({
    name: `title ${args.id} "${args.title}"`,
    async run(store, model) {
      const wanted = args.title === "" ? null : args.title;
      const taken = [...model].some(([other, row]) => other !== args.id && wanted !== null && row.title === wanted);
      if (!(await attempt(store.setSessionTitle(args.id, args.title), !taken))) return;
      const row = model.get(args.id);
      if (row) row.title = wanted;
    },
  }),
);

const simple = fc.record({ id, what: fc.constantFrom("end", "reopen", "clear", "delete", "tokens", "replace") }).map(
  (args): Operation => ({
    name: `${args.what} ${args.id}`,
    async run(store, model) {
      const row = model.get(args.id);
      if (args.what === "end") {
        await store.endSession(args.id, "x");
        if (row) row.end ??= "x";
      } else if (args.what === "reopen") {
        await store.reopenSession(args.id);
        if (row) row.end = null;
      } else if (args.what === "clear") {
        await store.clearMessages(args.id);
        if (row) row.messages = [];
      } else if (args.what === "replace" && row) {
        await store.replaceMessages(args.id, [{ role: "user", content: "only" }]);
        row.messages = [{ role: "user", content: "only", reasoning: null }];
      } else if (args.what === "tokens" && row) {
        await store.updateTokenCounts(args.id, { inputTokens: 3 });
        row.tokens += 3;
      } else if (args.what === "delete") {
        expect(await store.deleteSession(args.id)).toBe(row !== undefined);
        model.delete(args.id);
        for (const other of model.values()) if (other.parent === args.id) other.parent = null;
      }
    },
  }),
);

async function agree(store: FullStore, model: Model): Promise<void> {
  expect(await store.sessionCount()).toBe(model.size);
  for (const [key, expected] of model) {
    const row = await store.getSession(key);
    expect(row).toMatchObject({
      source: expected.source,
      parent_session_id: expected.parent,
      title: expected.title,
      end_reason: expected.end,
      input_tokens: expected.tokens,
      message_count: expected.messages.length,
    });
    const stored = await store.getMessages(key);
    expect(stored.map((item) => [item.role, item.content, item.reasoning])).toEqual(
      expected.messages.map((item) => [item.role, item.content, item.reasoning]),
    );
  }
  const listed = await store.listSessions({ includeChildren: true, limit: 100 });
  expect(listed.map((row) => row.id).sort()).toEqual([...model.keys()].sort());
}

describe.each(HOSTS)("a store $name", (host) => {
  beforeAll(() => host.prepare());
  it("behaves like a plain map of sessions", { timeout: 120_000 }, async () => {
    const operations = fc.array(fc.oneof(create, create, append, append, title, simple), {
      minLength: 5,
      maxLength: 25,
    });
    await fc.assert(
      fc.asyncProperty(operations, async (steps) => {
        const dir = tempDir("hermes-property-");
        const store = await host.open({ path: join(dir, "state.db") });
        const model: Model = new Map();
        try {
          for (const step of steps) await step.run(store, model);
          await agree(store, model);
        } finally {
          await store.close();
          rmSync(dir, { recursive: true, force: true });
        }
      }),
      { numRuns: host.name.includes("worker") ? 15 : 40 },
    );
  });
});
