// The display of a running turn ends with the turn.
import { expect, it } from "vitest";
import { PLAIN_CAPABILITIES, type Platform, type PlatformConnection } from "../../core/chat/platform.ts";
import type { Mailbox } from "../../core/store/mailbox.ts";
import { LiveReply } from "./live-reply.ts";
import { Sender } from "./sender.ts";

it("shows no typing indicator after its end, also when a question is answered late", async () => {
  let signs = 0;
  const typing = async () => {
    signs += 1;
  };
  const platform = { name: "house", capabilities: { ...PLAIN_CAPABILITIES, typing: true } } as unknown as Platform;
  const connection = { typing } as unknown as PlatformConnection;
  const mailbox = {} as Mailbox;
  const { signal } = new AbortController();
  const route = () => ({ platform, connection: () => connection });
  const sender = new Sender({ mailbox, route, log: () => undefined, redact: String, signal, now: Date.now });
  const settings = { stream: null, progress: "off" as const, cleanUp: false };
  const live = new LiveReply({
    ...{ mailbox, sender, platform, settings, key: "in:1", to: { chatId: "1" } },
    remove: () => undefined,
  });
  live.typing(true);
  await expect.poll(() => signs).toBe(1);
  live.end();
  live.typing(true);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(signs).toBe(1);
});
