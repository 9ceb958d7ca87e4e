// What a crash left of a turn, read from the log.
import { afterEach, expect, it } from "vitest";
import { closeWorlds, world } from "../../test/gateway-world.ts";
import { mirror } from "../app/mirror.ts";
import type { InboxRow } from "../core/mailbox.ts";
import { recover } from "./recover.ts";

afterEach(closeWorlds);

it("takes no message from elsewhere for the answer", async () => {
  const w = await world();
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
