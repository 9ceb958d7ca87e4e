import { expect, test } from "vitest";
import { LogStore } from "../../test/kit/log-store.ts";
import { workingSummariser } from "../../test/kit/summarisers.ts";
import { absentHuman } from "../core/human.ts";
import type { Message } from "../core/message.ts";
import type { ToolContext } from "../core/tool/tool.ts";
import { SummaryEngine } from "./compaction/summary-engine.ts";
import { recallContextTool } from "./recall-context.ts";

function context(sessionId: string): ToolContext {
  const signal = new AbortController().signal;
  const rest = { cwd: "/", callId: "1", conversationId: "c", tainted: false, depth: 0 };
  return { sessionId, signal, human: absentHuman, progress: () => undefined, ...rest };
}

async function ask(store: LogStore, sessionId: string, args: object) {
  const result = await recallContextTool(store).run(args, context(sessionId));
  return JSON.parse(String(result.content));
}

const talk = (count: number, tag: string): Message[] =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: `${tag} ${index + 1} ${"filler ".repeat(60)}`,
  }));

/** Two compactions: three sessions in a chain with consecutive turn numbers. */
async function compactedTwice() {
  const store = new LogStore();
  const engine = new SummaryEngine({ contextLength: 8_192, side: workingSummariser() });
  let messages: readonly Message[] = talk(60, "alpha");
  store.open("s0");
  store.append("s0", messages);
  for (const [pass, tag] of ["beta", "gamma"].entries()) {
    messages = (await engine.compress(messages, { sessionId: `s${pass}` })).messages;
    store.open(`s${pass + 1}`);
    store.append(`s${pass + 1}`, messages);
    const more = talk(60, tag);
    store.append(`s${pass + 1}`, more);
    messages = [...messages, ...more];
  }
  return store;
}

test("turns are numbered over the whole conversation and counted once", async () => {
  const store = await compactedTwice();
  for (const [number, start] of [
    [7, "alpha 7 "],
    [60, "alpha 60 "],
    [61, "beta 1 "],
    [120, "beta 60 "],
    [121, "gamma 1 "],
    [180, "gamma 60 "],
  ] as const) {
    const answer = await ask(store, "s2", { from: number, to: number });
    expect(answer.turns[0].text.startsWith(start)).toBe(true);
  }
});

test("the range in a summary names the turns that recall shows", async () => {
  const store = await compactedTwice();
  const rows = await store.getMessages("s2");
  const summary = rows.map((row) => String(row.content)).find((text) => text.includes("are kept; use recall_context"));
  const to = Number(/Turns \d+–(\d+) are kept/.exec(summary ?? "")?.[1]);
  const answer = await ask(store, "s2", { from: to, to: to + 1 });
  const next = answer.turns[1].text.slice(0, 12);
  const inWindow = rows.map((row) => String(row.content));
  expect(inWindow.some((text) => text.includes(next))).toBe(true);
  expect(inWindow.some((text) => text.startsWith(answer.turns[0].text.slice(0, 12)))).toBe(false);
});

test("search finds compacted turns once, by some of the words too, and ids expand", async () => {
  const store = await compactedTwice();
  const found = await ask(store, "s2", { query: "alpha 33 nonsense" });
  expect(found.hits.length).toBeLessThanOrEqual(8);
  const exact = await ask(store, "s2", { query: "alpha 33" });
  const hit = exact.hits.find((entry: { turn: number }) => entry.turn === 33);
  expect(hit.text).toContain("alpha 33");
  const expanded = await ask(store, "s2", { ids: [hit.id] });
  expect(expanded.turns[0].turn).toBe(33);
});

test("answers are bounded and say how to continue", async () => {
  const store = await compactedTwice();
  const page = await ask(store, "s2", { from: 1 });
  expect(JSON.stringify(page).length).toBeLessThan(16_000);
  expect(page.next_from).toBeGreaterThan(5);
  store.append("s2", [{ role: "user", content: "y".repeat(30_000) }]);
  const long = await ask(store, "s2", { from: 181, to: 181 });
  expect(long).toMatchObject({ next_offset: 12_000, length: 30_000 });
  const rest = await ask(store, "s2", { from: 181, to: 181, offset: 24_000 });
  expect(rest.turns[0].text).toHaveLength(6_000);
});

test("wrong arguments return a hint about valid ones", async () => {
  const store = await compactedTwice();
  expect((await ask(store, "s2", {})).error).toContain("Give query");
  expect((await ask(store, "s2", { from: 900 })).error).toContain("turns 1 to 180");
  expect((await ask(store, "s2", { ids: [99_999] })).error).toContain("Search");
});
