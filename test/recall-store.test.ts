import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SummaryEngine } from "../src/context/compaction/summary-engine.ts";
import { recallContextTool } from "../src/context/recall-context.ts";
import { absentHuman } from "../src/core/human.ts";
import type { Message } from "../src/core/message.ts";
import { contentText } from "../src/core/message.ts";
import type { NewMessage } from "../src/core/store/session.ts";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { longConversation, moreTurns } from "./kit/long-conversation.ts";
import { deadSummariser } from "./kit/summarisers.ts";

let dir = "";
let store: SqliteSessionStore;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "recall-"));
  store = await SqliteSessionStore.open({ path: join(dir, "state.db") });
});
afterEach(async () => {
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

test("with the real store and a failing summariser, facts of a twice compacted conversation are found again", async () => {
  const engine = new SummaryEngine({ contextLength: 32_768, side: deadSummariser() });
  const started = longConversation(5, 16_000);
  await store.createSession({ id: "s0", source: "cli" });
  await store.appendMessages("s0", started.messages as unknown as NewMessage[]);
  let messages: readonly Message[] = started.messages;
  const facts = [...started.facts];
  for (const pass of [1, 2]) {
    const outcome = await engine.compress(messages, { sessionId: `s${pass - 1}` });
    expect(outcome.messages).not.toBe(messages);
    const session = { id: `s${pass}`, source: "cli", parentSessionId: `s${pass - 1}` };
    await store.splitSession({ fromId: `s${pass - 1}`, session, messages: outcome.messages });
    const more = moreTurns(pass, 8_000);
    await store.appendMessages(`s${pass}`, more.messages as unknown as NewMessage[]);
    messages = [...outcome.messages, ...more.messages];
    facts.push(...more.facts);
  }
  const tool = recallContextTool(store);
  const signal = new AbortController().signal;
  const rest = { conversationId: "c", callId: "1", cwd: "/", tainted: false, depth: 0, progress: () => undefined };
  const ask = async (args: object) =>
    String((await tool.run(args, { sessionId: "s2", signal, human: absentHuman, ...rest })).content);
  const window = messages.map((message) => contentText(message.content)).join("\n");
  let found = 0;
  for (const fact of facts)
    if (window.includes(fact.value) || (await ask({ query: fact.query })).includes(fact.value)) found++;
  expect(found / facts.length).toBeGreaterThanOrEqual(0.95);
  const first = JSON.parse(await ask({ from: 1, to: 1 }));
  expect(first.turns[0].text).toBe(started.task);
});
