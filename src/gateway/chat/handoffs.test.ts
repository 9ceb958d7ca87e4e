// Handoffs: a session that starts in the terminal and continues in a chat.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import {
  answered,
  closeGateways,
  type GatewayFixture,
  openGatewayFixture,
  texts,
} from "../../../test/kit/gateway-fixture.ts";
import { text } from "../../../test/servers/fake-llm.ts";
import type { CommandContext } from "../../core/chat/command.ts";
import { absentHuman } from "../../core/human.ts";

afterEach(closeGateways);

async function talkInTerminal(w: GatewayFixture) {
  const opened = await w.opened.app.openConversation({ human: absentHuman, source: "cli" });
  for await (const _ of opened.conversation.send("remember the number 417", { signal: new AbortController().signal }));
  const command = (await w.opened.app.commands()).find(({ name }) => name === "handoff");
  const { store, handoffs } = w.opened.app;
  const context = { store, handoffs, conversation: opened.conversation } as unknown as CommandContext;
  const handoff = async (platform: string) => {
    const answer = await command?.run(platform, context);
    return answer?.type === "text" ? answer.text : "";
  };
  return { id: opened.conversation.sessionId, handoff, close: () => opened.conversation.close() };
}

it("continues in the home channel with its whole history", async () => {
  const w = await openGatewayFixture({
    script: (request) => text(JSON.stringify(request.messages).includes("417") ? "I know 417." : "Nothing known."),
    env: { TELEGRAM_ALLOWED_USERS: "1", TELEGRAM_HOME_CHANNEL: "1" },
  });
  const terminal = await talkInTerminal(w);
  expect(await terminal.handoff("telegram")).toContain("continues in the home channel of telegram");
  await terminal.close();
  await answered(w, 1);
  expect(texts(w, 1)).toEqual(["I know 417."]);
  w.telegram.say(1, "which number?");
  await answered(w, 1, 2);
  const index = JSON.parse(readFileSync(join(w.home.path, "sessions", "sessions.json"), "utf8"));
  expect(index["agent:main:telegram:dm:1"].session_id).toBe(terminal.id);
  expect(await w.opened.app.handoffs.getHandoffState(terminal.id)).toMatchObject({ state: "completed", error: null });
});

it("reports why a session cannot be handed over", async () => {
  const w = await openGatewayFixture();
  const terminal = await talkInTerminal(w);
  expect(await terminal.handoff("telegram")).toContain("telegram has no home channel");
  expect(await terminal.handoff("smoke-signals")).toContain('There is no platform "smoke-signals"');
  expect(await terminal.handoff("")).toContain("Where to?");
  await terminal.close();
});

it("can be requested again after the gateway crashed while claiming the session", async () => {
  const w = await openGatewayFixture();
  const { store, handoffs } = w.opened.app;
  const id = await store.createSession({ id: "20260101_000000_aaaaaaaa", source: "cli" });
  await store.appendMessage(id, { role: "user", content: "hello" });
  await w.gateway.stop(100);
  await handoffs.requestHandoff(id, "telegram");
  await handoffs.claimHandoff(id);
  await w.restart();
  const state = () => w.opened.app.handoffs.getHandoffState(id);
  await expect.poll(async () => (await state())?.state).toBe("failed");
  expect(await w.opened.app.handoffs.requestHandoff(id, "telegram")).toBe(true);
});
