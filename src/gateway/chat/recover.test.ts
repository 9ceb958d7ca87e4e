// Finds out from the log how far a turn got before a crash.
import { afterEach, expect, it } from "vitest";
import { closeGateways, openGatewayFixture, type Script, texts } from "../../../test/kit/gateway-fixture.ts";
import { text } from "../../../test/servers/fake-llm.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import { mirror } from "../../delivery/api/mirror.ts";
import { recover } from "./recover.ts";

afterEach(closeGateways);

it("does not treat a mirrored message as the answer", async () => {
  const w = await openGatewayFixture();
  const { store } = w.opened.app;
  const id = await store.createSession({ id: "20260101_000000_aaaaaaaa", source: "telegram" });
  const row = { state: "running", sessionId: id, logAfter: 0 } as InboxRow;
  expect(await recover(store, row)).toEqual({ state: "new" });
  await store.appendMessage(id, { role: "user", content: "How late is it?" });
  await mirror(store, id, "cli", "The parcel has arrived.");
  expect(await recover(store, row)).toEqual({ state: "begun", sessionId: id });
  await store.appendMessage(id, { role: "assistant", content: "Three o'clock." });
  await mirror(store, id, "cli", "Another parcel.");
  expect(await recover(store, row)).toEqual({ state: "answered", text: "Three o'clock.", sessionId: id });
});

it("does not treat a partial answer as the answer", async () => {
  let asked = 0;
  const script: Script = () => {
    asked += 1;
    return asked === 1 ? { text: "The beginning of a long", hang: "after_text" } : text("The whole answer.");
  };
  const w = await openGatewayFixture({ script });
  w.telegram.say(1, "tell me");
  await w.telegram.until(() => asked === 1);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await w.restart();
  await w.telegram.until(() => texts(w, 1).length > 0);
  expect(texts(w, 1)).toEqual(["The whole answer."]);
});
