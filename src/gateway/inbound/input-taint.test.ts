// Which chat messages contain text of others.
import { expect, it } from "vitest";
import type { InboundEvent, Source } from "../../core/chat/platform.ts";
import { inputTaint } from "./input-taint.ts";

function event(more: Partial<InboundEvent> = {}, source: Partial<Source> = {}): InboundEvent {
  const from = { platform: "telegram", chatId: "5", chatKind: "dm" as const, userId: "7", ...source };
  return { account: "b", messageId: "1", text: "remember tea", at: 0, source: from, ...more };
}
const file = { kind: "document" as const, name: "a.pdf", ref: "r" };

it.each([
  ["own words", event(), undefined, "remember tea"],
  ["a voice note", event({ attachments: [{ kind: "voice", ref: "r" }] }), undefined, "remember tea"],
  ["a reply to the agent", event({ replyTo: { messageId: "1", text: "x", fromBot: true } }), undefined, "remember tea"],
  ["a document", event({ attachments: [file] }), "the file a.pdf in a message", "remember tea"],
  ["a picture", event({ attachments: [{ kind: "image", ref: "r" }] }), "the file image in a message", "remember tea"],
  ["a quote", event({ replyTo: { messageId: "1", text: "x" } }), "a quoted message", "remember tea"],
  ["channel history", event({ backfill: "x" }), "earlier messages of the channel", "remember tea"],
  ["a forward", event({ forwarded: true }), "a forwarded message", ""],
  ["a webhook", event({}, { chatKind: "webhook" }), "a webhook delivery", ""],
  ["an e-mail", event({}, { platform: "email" }), "an e-mail", "remember tea"],
  ["the program itself", event({ internal: true }), "a message of the program", ""],
] as const)("%s", (_name, given, origin, typed) => {
  expect(inputTaint(given, { role: "owner", shared: false })).toEqual(
    origin === undefined ? { typed } : { origin, typed },
  );
});

it("a guest's message taints a session that several users share, not the guest's own", () => {
  const given = event({}, { userName: "Bob" });
  expect(inputTaint(given, { role: "guest", shared: true })).toEqual({ origin: "a message of Bob", typed: "" });
  expect(inputTaint(given, { role: "guest", shared: false })).toEqual({ typed: "remember tea" });
});
