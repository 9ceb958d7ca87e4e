// The Telegram platform against a local Bot API server: message selection, webhooks, lost messages.
import { rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Message } from "grammy/types";
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "../../../test/kit/free-port.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { FakeTelegram } from "../../../test/servers/fake-telegram.ts";
import type { InboundEvent, PlatformConnection, PlatformContext } from "../../core/chat/platform.ts";
import { isForBot } from "./inbound.ts";
import { readSettings } from "./settings.ts";
import { telegramPlatform } from "./telegram.ts";

const bot = { id: 123456, username: "hermes_bot" };
const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of closing.splice(0).reverse()) await each.close();
});

function settings(env: { [name: string]: string }) {
  return readSettings({ setting: (name) => env[name], section: {} });
}

function group(text: string, more: object = {}): Message {
  return {
    message_id: 1,
    date: 1,
    chat: { id: -5, type: "group", title: "G" },
    from: { id: 9, is_bot: false, first_name: "N" },
    text,
    ...more,
  } as Message;
}

const mention = { entities: [{ type: "mention" as const, offset: 0, length: 11 }] };

describe("which group messages are for the bot", () => {
  it.each([
    ["all when no mention is required", {}, group("hi"), true],
    ["not without a required mention", { TELEGRAM_REQUIRE_MENTION: "1" }, group("hi"), false],
    ["a mention of the bot", { TELEGRAM_REQUIRE_MENTION: "1" }, group("@hermes_bot hi", mention), true],
    ["not a mention of another bot", { TELEGRAM_REQUIRE_MENTION: "1" }, group("@hermes_bat hi", mention), false],
    [
      "a reply to the bot",
      { TELEGRAM_REQUIRE_MENTION: "1" },
      group("yes", { reply_to_message: { message_id: 2, from: { id: 123456 } } }),
      true,
    ],
    [
      "a configured pattern",
      { TELEGRAM_REQUIRE_MENTION: "1", TELEGRAM_MENTION_PATTERNS: "hey hermes" },
      group("Hey Hermes!"),
      true,
    ],
    [
      "any message in a free-response chat",
      { TELEGRAM_REQUIRE_MENTION: "1", TELEGRAM_FREE_RESPONSE_CHATS: "-5" },
      group("hi"),
      true,
    ],
    [
      "not in a chat outside the allowed ones",
      { TELEGRAM_ALLOWED_CHATS: "-6" },
      group("@hermes_bot hi", mention),
      false,
    ],
    [
      "a mention in any chat in guest mode",
      { TELEGRAM_ALLOWED_CHATS: "-6", TELEGRAM_GUEST_MODE: "1" },
      group("@hermes_bot hi", mention),
      true,
    ],
    ["not in an ignored topic", { TELEGRAM_IGNORED_THREADS: "3" }, group("hi", { message_thread_id: 3 }), false],
  ])("%s", (_, env, message, expected) => {
    expect(isForBot(message, bot, settings(env as { [name: string]: string }))).toBe(expected);
  });
});

async function connect(env: { [name: string]: string }, before?: FakeTelegram) {
  const telegram = before ?? (await new FakeTelegram().start());
  const received: InboundEvent[] = [];
  const stopping = new AbortController();
  let broken = false;
  const receiveAll: PlatformContext["receiveAll"] = async (events) => {
    if (broken) throw new Error("disk full");
    received.push(...events);
  };
  const all: { [name: string]: string } = {
    TELEGRAM_BOT_TOKEN: telegram.token,
    TELEGRAM_API_ROOT: telegram.url,
    ...env,
  };
  const connection: PlatformConnection = await telegramPlatform.connect({
    setting: (name) => all[name],
    section: { poll_seconds: 1, grace_seconds: 1 },
    receive: (event) => receiveAll([event]),
    receiveAll,
    memory: { get: async () => null, set: async () => undefined },
    log: () => undefined,
    lost: () => undefined,
    now: Date.now,
    signal: stopping.signal,
    deliver: async () => undefined,
    homePath: "/nonexistent",
  });
  if (!before) closing.push(telegram);
  closing.push(connection);
  return { telegram, connection, received, breakDisk: (on: boolean) => (broken = on) };
}

describe("receiving", () => {
  it("confirms an update only after it was stored", async () => {
    const { telegram, received, breakDisk, connection } = await connect({});
    breakDisk(true);
    telegram.say(1, "important");
    await telegram.until(() => connection.health().reason === "messages could not be stored: disk full");
    expect(telegram.unconfirmed).toBe(1);
    breakDisk(false);
    await telegram.until(() => received.length === 1 && telegram.unconfirmed === 0);
    expect(received[0]).toMatchObject({
      account: "123456",
      messageId: "1",
      text: "important",
      source: { chatKind: "dm", userId: "1" },
    });
  });

  it("accepts all pictures of an album in a group when its caption mentions the bot", async () => {
    const { telegram, received } = await connect({ TELEGRAM_REQUIRE_MENTION: "1" });
    const chat = { id: -5, type: "group", title: "G" };
    const photo = [{ file_id: "f", file_unique_id: "u", width: 1, height: 1 }];
    const piece = (group: string, more: object = {}) =>
      telegram.say(1, "", { chat, extra: { text: undefined, photo, media_group_id: group, ...more } });
    piece("other");
    piece("ours", { caption: "@hermes_bot which?", caption_entities: mention.entities });
    piece("ours");
    await telegram.until(() => received.length === 2 && telegram.unconfirmed === 0);
    expect(received.map((event) => event.group)).toEqual(["ours", "ours"]);
  });

  it("still receives after an update that cannot be parsed", async () => {
    const { telegram, received } = await connect({});
    telegram.say(1, "odd", { extra: { entities: "none", chat: { id: -5, type: "group" } } });
    telegram.say(1, "plain");
    await telegram.until(() => received.length === 1 && telegram.unconfirmed === 0);
    expect(received[0]).toMatchObject({ text: "plain" });
  });

  it("accepts webhooks with the right secret only, and responds after the update was stored", async () => {
    const port = await freePort();
    const secret = "a-long-enough-secret";
    const { telegram, received, breakDisk } = await connect({
      TELEGRAM_WEBHOOK_URL: "https://bot.example/telegram",
      TELEGRAM_WEBHOOK_SECRET: secret,
      TELEGRAM_WEBHOOK_PORT: String(port),
    });
    expect(telegram.webhook).toEqual({ url: "https://bot.example/telegram", secret });
    const update = {
      update_id: 5,
      message: {
        message_id: 3,
        date: 1,
        chat: { id: 1, type: "private" },
        from: { id: 1, is_bot: false, first_name: "A" },
        text: "by hook",
      },
    };
    const post = async (token: string) => {
      const headers = { "content-type": "application/json", "x-telegram-bot-api-secret-token": token };
      return (await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: JSON.stringify(update) }))
        .status;
    };
    expect(await post("wrong")).toBe(401);
    breakDisk(true);
    expect(await post(secret)).toBe(503);
    breakDisk(false);
    expect(await post(secret)).toBe(200);
    expect(received.map((event) => event.text)).toEqual(["by hook"]);
  });
});

describe("sending", () => {
  it("follows a group that became a supergroup, and falls back from a deleted topic", async () => {
    const { telegram, connection } = await connect({});
    const never = new AbortController().signal;
    telegram.refuse = (_, chatId) =>
      chatId === "-7" ? [400, "Bad Request: group chat was upgraded", { migrate_to_chat_id: -1007 }] : null;
    await connection.send({ chatId: "-7" }, { text: "news", idempotencyKey: "m" }, never);
    expect(telegram.fromBot("-1007").map((each) => each.text)).toEqual(["news"]);
    telegram.refuse = () => {
      telegram.refuse = () => null;
      return [400, "Bad Request: message thread not found"];
    };
    const path = join(tempDir("hermes-telegram-"), "a.txt");
    writeFileSync(path, "x");
    const file = { kind: "document" as const, path, name: "a.txt", idempotencyKey: "f" };
    expect(await connection.sendFile?.({ chatId: "-1008", threadId: "9" }, file, never)).toMatchObject({ ok: true });
    expect(telegram.fromBot("-1008")).toMatchObject([{ kind: "document" }]);
    rmSync(dirname(path), { recursive: true });
  });

  it("falls back to plain text when aligned columns make a table too long", async () => {
    const { telegram, connection } = await connect({});
    const rows = Array.from({ length: 60 }, (_, n) => `| ${n} | x |`);
    const text = ["| a | b |", "|---|---|", `| ${"long ".repeat(60)} | y |`, ...rows].join("\n");
    const never = new AbortController().signal;
    expect(await connection.send({ chatId: "1" }, { text, idempotencyKey: "t" }, never)).toMatchObject({ ok: true });
    expect(telegram.fromBot(1)[0]?.text).toBe(text);
  });
});

describe("a message with an unknown outcome", () => {
  const to = { chatId: "1" };
  const message = { text: "the **answer**", idempotencyKey: "k" };
  const signal = new AbortController().signal;

  /** A new process that has seen no message ids. */
  const later = async (telegram: FakeTelegram, first: PlatformConnection) => {
    await first.close();
    return (await connect({}, telegram)).connection;
  };
  const shown = (telegram: FakeTelegram) => telegram.fromBot(1).map((each) => each.text);

  it("is found when it was delivered, despite placeholders of earlier searches", async () => {
    const { telegram, connection: first } = await connect({});
    await first.send(to, { text: "older", idempotencyKey: "a" }, signal);
    const mark = first.mark?.(to) ?? null;
    await first.send(to, message, signal);
    await first.send(to, { text: "…", buttons: [[{ label: "…", data: "look" }]], idempotencyKey: "b" }, signal);
    const connection = await later(telegram, first);
    expect(await connection.findSent?.({ to, message, mark, known: new Set() }, signal)).toMatchObject({ sent: true });
    expect(shown(telegram)).toEqual(["older", "the answer"]);
  });

  it("is sent once when it was not delivered, also with a placeholder of an earlier search", async () => {
    const { telegram, connection: first } = await connect({});
    await first.send(to, { text: "older", idempotencyKey: "a" }, signal);
    const mark = first.mark?.(to) ?? null;
    telegram.say(1, "from a person");
    const second = await later(telegram, first);
    await second.findSent?.({ to, message, mark, known: new Set() }, signal);
    expect(shown(telegram)).toEqual(["older", "the answer"]);
    const third = await later(telegram, second);
    await third.findSent?.({ to, message, mark, known: new Set() }, signal);
    expect(shown(telegram)).toEqual(["older", "the answer"]);
  });

  it("is distinguished from a placeholder that an earlier search started to remove", async () => {
    const { telegram, connection: first } = await connect({});
    await first.send(to, { text: "older", idempotencyKey: "a" }, signal);
    const mark = first.mark?.(to) ?? null;
    await first.send(to, message, signal);
    // Its button is already removed.
    await first.send(to, { text: "…", idempotencyKey: "b" }, signal);
    const connection = await later(telegram, first);
    expect(await connection.findSent?.({ to, message, mark, known: new Set() }, signal)).toMatchObject({ sent: true });
    expect(shown(telegram)).toEqual(["older", "the answer"]);
  });

  it("reuses the placeholder of an interrupted search", async () => {
    const { telegram, connection: first } = await connect({});
    await first.send(to, { text: "older", idempotencyKey: "a" }, signal);
    let mark = first.mark?.(to) ?? null;
    const remember = async (next: string) => {
      mark = next;
      throw new Error("killed");
    };
    await expect(first.findSent?.({ to, message, mark, known: new Set(), remember }, signal)).rejects.toThrow("killed");
    const second = await later(telegram, first);
    await second.findSent?.({ to, message, mark, known: new Set() }, signal);
    expect(shown(telegram)).toEqual(["older", "the answer"]);
  });
});
