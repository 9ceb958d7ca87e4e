import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LogStore } from "../../../test/kit/log-store.ts";
import { FAULTY, workingSummariser } from "../../../test/kit/summarisers.ts";
import type { Message } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { estimateMessagesTokens } from "../../core/model/tokens.ts";
import { LosslessEngine, type LosslessOptions } from "./lossless.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "lossless-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const talk = (count: number, tag: string): Message[] =>
  Array.from({ length: count }, (_, index) => ({
    role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
    content: `${tag}${index + 1} ${"filler words about the build ".repeat(12)}`,
  }));
const all = (messages: readonly Message[]) => messages.map((message) => contentText(message.content)).join("\n");

/** A conversation that is compacted `passes` times, with its log. */
async function compacted(passes: number, more: Partial<LosslessOptions> = {}) {
  const store = new LogStore();
  const engine = new LosslessEngine({ contextLength: 8_192, dir, store, side: workingSummariser(), ...more });
  let messages: readonly Message[] = talk(60, "a");
  let sessionId = "s0";
  store.open(sessionId);
  store.append(sessionId, messages);
  for (let pass = 1; pass <= passes; pass++) {
    const outcome = await engine.compress(messages, { sessionId });
    expect(estimateMessagesTokens(outcome.messages)).toBeLessThan(engine.thresholdTokens * 0.8);
    expect(outcome.modelCalls).toBeLessThanOrEqual(3);
    const oldSessionId = sessionId;
    sessionId = `s${pass}`;
    store.open(sessionId);
    store.append(sessionId, outcome.messages);
    await engine.onSessionStart(sessionId, { boundaryReason: "compression", oldSessionId });
    const added = talk(60, String.fromCharCode(97 + pass));
    store.append(sessionId, added);
    messages = [...outcome.messages, ...added];
  }
  return { engine, messages, sessionId, store };
}

const call = async (engine: LosslessEngine, name: string, args: object, sessionId: string) =>
  JSON.parse(await engine.handleToolCall(name, { ...args }, { sessionId, messages: [] }));

test("the window shows nodes by id, and a leaf opens to the original turns", async () => {
  const { engine, messages, sessionId } = await compacted(1);
  const id = /### \[(n\d+)\] turns (\d+)–(\d+)/.exec(all(messages));
  expect(id).not.toBeNull();
  const opened = await call(engine, "context_expand", { id: id?.[1] }, sessionId);
  expect(opened.shown[0]).toMatchObject({ turn: Number(id?.[2]), text: expect.stringContaining(`a${id?.[2]} `) });
});

test("many passes fold old nodes under parents, and every turn stays reachable", async () => {
  const { engine, sessionId } = await compacted(8);
  const [file] = (await readdir(dir)).filter((name) => name.startsWith(sessionId));
  expect(file).toBeDefined();
  const root = await call(engine, "context_expand", { id: "nothing" }, sessionId);
  expect(root.nodes.length).toBeGreaterThan(0);
  const reached = new Set<number>();
  const visit = async (id: string, from?: number): Promise<void> => {
    const opened = await call(engine, "context_expand", { id, ...(from === undefined ? {} : { from }) }, sessionId);
    for (const child of opened.children ?? []) await visit(child.id);
    for (const turn of opened.shown ?? []) reached.add(turn.turn);
    if (opened.next_from !== undefined) await visit(id, opened.next_from);
  };
  for (const id of root.nodes) await visit(id);
  const first = Math.min(...reached);
  const last = Math.max(...reached);
  expect(reached.size).toBe(last - first + 1);
  expect(last).toBeGreaterThan(400);
});

test("search names the node that holds a hit", async () => {
  const { engine, sessionId } = await compacted(2);
  const found = await call(engine, "context_search", { query: "a17" }, sessionId);
  const hit = found.hits.find((entry: { turn: number }) => entry.turn === 17);
  const opened = await call(engine, "context_expand", { id: hit.node, from: 17 }, sessionId);
  expect(opened.shown[0].text).toContain("a17 ");
});

test("a new process continues with the stored tree; with a damaged file only the tree is lost", async () => {
  const { messages, sessionId, store } = await compacted(2);
  const resumed = new LosslessEngine({ contextLength: 8_192, dir, store, side: workingSummariser() });
  await resumed.onSessionStart(sessionId, {});
  const before = (await call(resumed, "context_expand", { id: "" }, sessionId)).nodes;
  expect(before.length).toBeGreaterThan(0);
  await writeFile(join(dir, `${sessionId}.json`), "{broken");
  const again = new LosslessEngine({ contextLength: 8_192, dir, store, side: workingSummariser() });
  const outcome = await again.compress(messages, { sessionId });
  expect(outcome.method).toBe("tree");
  expect(all(outcome.messages)).toMatch(/\[n1\] turns/);
});

for (const [name, make] of Object.entries(FAULTY)) {
  test(`a summariser that is ${name} still gives nodes`, async () => {
    const side = make();
    const { engine, messages, sessionId } = await compacted(3, { side, deadlineMs: 20 });
    expect(all(messages)).toMatch(/\[n\d+\] turns/);
    const found = await call(engine, "context_search", { query: "b33" }, sessionId);
    expect(JSON.stringify(found)).toContain("b33 ");
  });
}

test("its tools are declared, and an unknown one is refused", async () => {
  const engine = new LosslessEngine({ contextLength: 8_192, dir });
  expect(engine.getToolSchemas().map((schema) => schema.name)).toEqual(["context_expand", "context_search"]);
  expect(await call(engine, "other", {}, "s")).toHaveProperty("error");
  expect(await call(engine, "context_search", {}, "s")).toHaveProperty("error");
});
