// Messages with an unknown outcome, sent by the real outbox and the real Telegram platform against a Bot API server on loopback.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PlatformConnection, PlatformContext } from "../src/core/chat/platform.ts";
import type { Mailbox, OutboxPayload, OutboxRow } from "../src/core/store/mailbox.ts";
import { sendRow } from "../src/delivery/api/send-row.ts";
import { telegramPlatform } from "../src/platforms/telegram/telegram.ts";
import { createMailbox } from "../src/store/runtime/mailbox.ts";
import { openRuntimeDb } from "../src/store/runtime-db.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { FakeTelegram } from "./servers/fake-telegram.ts";

const DAY_MS = 86_400_000;
const never = new AbortController().signal;
let dir: string;
let telegram: FakeTelegram;
let mailbox: Mailbox;
let ahead = 0;
const now = () => Date.now() + ahead;
const open: PlatformConnection[] = [];

beforeEach(async () => {
  dir = tempDir("hermes-send-");
  telegram = await new FakeTelegram().start();
  ahead = 0;
  mailbox = createMailbox(openRuntimeDb(join(dir, "runtime.db")), now);
});

afterEach(async () => {
  for (const connection of open.splice(0)) await connection.close();
  await telegram.close();
  await mailbox.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A gateway process; earlier ones have ended. `hold` keeps its inbox from being written. */
async function start(options: { hold?: Promise<void>; receives?: boolean } = {}): Promise<PlatformConnection> {
  for (const dead of open.splice(0)) await dead.close();
  const env: { [name: string]: string } = { TELEGRAM_BOT_TOKEN: telegram.token, TELEGRAM_API_ROOT: telegram.url };
  const receiveAll: PlatformContext["receiveAll"] = async (events) => {
    await options.hold;
    await mailbox.accept("telegram", events);
  };
  const context: PlatformContext = {
    setting: (name) => env[name],
    section: { poll_seconds: 1, grace_seconds: 1 },
    receive: (event) => receiveAll([event]),
    receiveAll,
    memory: {
      get: (key) => mailbox.getMemory("telegram", key),
      set: (key, value) => mailbox.setMemory("telegram", key, value),
    },
    newest: () => mailbox.newestMessages("telegram"),
    log: () => undefined,
    lost: () => undefined,
    now,
    signal: never,
    deliver: async () => undefined,
    homePath: dir,
  };
  const connect = options.receives === false ? telegramPlatform.openSender : telegramPlatform.connect;
  const connection = await connect?.(context);
  if (!connection) throw new Error("no connection");
  open.push(connection);
  return connection;
}

async function row(payload: string | OutboxPayload, chat = "1"): Promise<OutboxRow> {
  const what = typeof payload === "string" ? { type: "text" as const, text: payload } : payload;
  const key = `k${Math.random()}`;
  const [made] = await mailbox.enqueue([{ key, platform: "telegram", to: { chatId: chat }, payload: what }]);
  if (!made) throw new Error("no row");
  return made;
}

/** Sends like the gateway, without its pauses, until the row is finished. */
async function deliver(first: OutboxRow, by: PlatformConnection): Promise<void> {
  let current = first;
  const remember = (mark: string | null) => {
    current = { ...current, mark };
  };
  for (let round = 0; round < 20; round++) {
    const result = await sendRow(current, by, { mailbox, signal: never, now, log: () => undefined, remember });
    if (result.ok) return mailbox.sent(current.id, result.messageId);
    if (result.kind === "refused") return mailbox.failed(current.id, result.reason);
    if (result.kind === "unknown") current = { ...current, state: "sending" };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the message came to no end");
}

/** The process is killed before Telegram's response; `arrives` decides whether the message was delivered. */
async function dieSending(first: OutboxRow, by: PlatformConnection, arrives: boolean): Promise<void> {
  const breakLine = () => {
    if (arrives) telegram.cutAfterSend = 1;
    else telegram.fault = "refuse";
  };
  const dying: PlatformConnection = {
    account: by.account,
    mark: (to) => by.mark?.(to) ?? null,
    learnMark: (to, key, signal) => by.learnMark?.(to, key, signal) ?? Promise.reject(new Error("cannot learn")),
    send: (to, message, signal) => {
      breakLine();
      return by.send(to, message, signal);
    },
    sendFile: (to, file, signal) => {
      breakLine();
      return by.sendFile?.(to, file, signal) ?? Promise.reject(new Error("cannot send files"));
    },
    health: () => by.health(),
    close: () => by.close(),
  };
  const sending = { mailbox, signal: never, now, log: () => undefined, remember: () => undefined };
  expect(await sendRow(first, dying, sending)).toMatchObject({ ok: false, kind: "unknown" });
  telegram.fault = "none";
}

const left = async () => (await mailbox.pending()).outbox;
const shown = (chat: number | string = 1) => telegram.fromBot(chat).map((each) => each.text);

async function recover(by: PlatformConnection): Promise<void> {
  for (const each of await left()) await deliver(each, by);
}

describe("a text with an unknown outcome", () => {
  it("is found although hundreds of user messages are still arriving", async () => {
    const full = Promise.reject(new Error("disk full"));
    full.catch(() => undefined);
    const first = await start({ hold: full });
    await deliver(await row("older"), first);
    for (let n = 0; n < 700; n++) telegram.say(2 + (n % 50), `hello ${n}`);
    await dieSending(await row("the answer"), first, true);
    let release: () => void = () => undefined;
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    const second = await start({ hold });
    const [lost] = await left();
    if (!lost) throw new Error("nothing was left");
    const recovering = deliver(lost, second);
    await new Promise((resolve) => setTimeout(resolve, 300));
    release();
    await recovering;
    expect(shown()).toEqual(["older", "the answer"]);
  });

  it.each([true, false])("is there once when it was the first of this home (arrived: %s)", async (arrives) => {
    const first = await start();
    await dieSending(await row("hello"), first, arrives);
    await recover(await start());
    expect(shown()).toEqual(["hello"]);
  });

  it("is not confused with an older answer after a week without messages", async () => {
    const first = await start();
    telegram.say(1, "question");
    await expect.poll(() => first.mark?.({ chatId: "1" })).toBe("1");
    await deliver(await row("an answer of last week"), first);
    ahead += 8 * DAY_MS;
    await mailbox.prune(now() - 7 * DAY_MS);
    const second = await start();
    await dieSending(await row("today's news"), second, false);
    await recover(await start());
    expect(shown()).toEqual(["an answer of last week", "today's news"]);
  });

  it("is distinguished from messages to others that were sent long before the restart", async () => {
    const first = await start();
    await deliver(await row("older"), first);
    const lost = await row("the answer");
    await dieSending(lost, first, true);
    await Promise.all(
      Array.from({ length: 450 }, async (_, n) => deliver(await row(`to somebody ${n}`, String(100 + (n % 5))), first)),
    );
    ahead += 3 * 3_600_000;
    await recover(await start());
    expect(shown()).toEqual(["older", "the answer"]);
  });

  it("does not change the posts of users in a channel", async () => {
    telegram.channels.add("-1005");
    const first = await start();
    await deliver(await row("older", "-1005"), first);
    telegram.say(9, "a post of the editor", { chat: { id: -1005, type: "channel" } });
    await dieSending(await row("the news", "-1005"), first, true);
    await recover(await start());
    expect(telegram.messages.filter((each) => !each.fromBot)).toMatchObject([
      { text: "a post of the editor", deleted: false, edits: 0 },
    ]);
    expect(shown("-1005").slice(0, 2)).toEqual(["older", "the news"]);
    expect(shown("-1005")[2]).toMatch(/^\(Sent again/);
  });

  it("arrives without the note when there is no room for one", async () => {
    telegram.channels.add("-1005");
    const long = "x".repeat(4096);
    await dieSending(await row(long, "-1005"), await start(), false);
    await recover(await start());
    expect(shown("-1005")).toEqual([long]);
  });
});

describe("a file with an unknown outcome", () => {
  const file = (name: string): OutboxPayload => {
    writeFileSync(join(dir, name), "content");
    return { type: "file", kind: "document", path: join(dir, name), name, caption: `this is ${name}` };
  };
  const files = () => telegram.fromBot(1).map((each) => `${each.kind}: ${each.text}`);

  it.each([true, false])("is there once (arrived: %s)", async (arrives) => {
    const first = await start();
    await deliver(await row("older"), first);
    await dieSending(await row(file("a.txt")), first, arrives);
    await recover(await start());
    expect(files()).toEqual(["message: older", "document: this is a.txt"]);
  });

  it("that is gone does not hold up the chat", async () => {
    const connection = await start();
    await deliver(await row({ ...file("a.txt"), path: join(dir, "nowhere.txt") } as OutboxPayload), connection);
    await deliver(await row("next"), connection);
    expect(shown()).toEqual(["next"]);
    expect(await mailbox.failures(1)).toMatchObject([{ error: expect.stringContaining("cannot be read") }]);
  });
});

describe("a sender beside the gateway", () => {
  it("finds the message of an earlier sender", async () => {
    await dieSending(await row("the result"), await start({ receives: false }), true);
    await recover(await start({ receives: false }));
    expect(shown()).toEqual(["the result"]);
  });
});
