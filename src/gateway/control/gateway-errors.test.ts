// Connection errors, rate limits, restarts and disk errors: recovered or reported, and nothing is sent twice.
import { afterEach, describe, expect, it } from "vitest";
import { answered, closeGateways, openGatewayFixture, type Script, texts } from "../../../test/kit/gateway-fixture.ts";
import type { Mailbox } from "../../core/store/mailbox.ts";
import { Topics } from "../inbound/topics.ts";

afterEach(closeGateways);

describe("connection errors", () => {
  it("respects the rate limit and sends each message once", async () => {
    const w = await openGatewayFixture({ telegram: { flood: { every: 2, retryAfter: 1 } } });
    for (const word of ["a", "b", "c"]) w.telegram.say(2, word);
    w.telegram.say(1, "x");
    await answered(w, 1);
    await w.telegram.until(() => texts(w, 2).some((each) => each.includes("c")));
    expect(new Set(texts(w, 2)).size).toBe(texts(w, 2).length);
  });

  it("finds a message whose response was lost instead of sending it twice", async () => {
    const w = await openGatewayFixture();
    w.telegram.say(1, "warm up");
    await answered(w, 1);
    w.telegram.cutAfterSend = 1;
    w.telegram.say(1, "only once");
    await w.telegram.until(() => w.telegram.messages.some((message) => message.text === "…" && message.deleted));
    await w.telegram.until(() => w.gateway.activeTurns === 0);
    expect(texts(w, 1).filter((each) => each.includes("only once"))).toHaveLength(1);
    expect(w.telegram.fromBot(1).map((message) => message.text)).not.toContain("…");
  });

  it("loses no message being sent when only the poll's connection fails", async () => {
    const w = await openGatewayFixture({ telegram: { sendMs: 1_500 }, env: { TELEGRAM_ALLOW_ALL_USERS: "true" } });
    const users = Array.from({ length: 8 }, (_, index) => 100 + index);
    for (const user of users) w.telegram.say(user, "hello");
    const sends = () => w.telegram.calls.filter(({ method }) => method === "sendMessage").length;
    await w.telegram.until(() => sends() >= 5, 60_000);
    await w.telegram.until(() => w.telegram.resetPoll(), 60_000);
    await w.telegram.until(() => users.every((user) => texts(w, user).length === 1), 60_000);
    await w.telegram.until(() => w.gateway.activeTurns === 0);
    expect(w.log.some((line) => line.includes("poll failed"))).toBe(true);
    // No message had an unknown outcome, so there was no search.
    expect(sends()).toBe(users.length);
    expect(w.telegram.calls.filter(({ method }) => method === "editMessageReplyMarkup")).toEqual([]);
  });

  it.each(["half_open", "stall", "conflict", "error"] as const)(
    "recovers after %s and does not report ok during the outage",
    async (fault) => {
      const w = await openGatewayFixture();
      w.telegram.say(1, "before");
      await answered(w, 1);
      w.telegram.fault = fault;
      await w.telegram.until(() => w.log.some((line) => /degraded|connecting|red/.test(line)), 10_000);
      const deadline = Date.now() + 10_000;
      let state = "ok";
      while (state === "ok" && Date.now() < deadline) {
        state = (await w.gateway.status()).platforms[0]?.state ?? "";
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(state).not.toBe("ok");
      w.telegram.fault = "none";
      w.telegram.say(1, "after");
      await answered(w, 1, 2);
      expect(texts(w, 1)).toEqual(["You said: before", "You said: after"]);
    },
  );
});

describe("a restart", () => {
  it("continues the same session and finishes running turns before it stops", async () => {
    const w = await openGatewayFixture({
      script: (request) => ({ text: `seen ${request.messages.length}`, everyMs: 100 }),
    });
    w.telegram.say(1, "one");
    await w.llm.arrived(1);
    await w.restart();
    await answered(w, 1);
    w.telegram.say(1, "two");
    await answered(w, 1, 2);
    expect(texts(w, 1)[0]).not.toBe(texts(w, 1)[1]);
  });
});

describe("disk errors", () => {
  it("delay a chat until its answer can be stored, and keep the order", async () => {
    const w = await openGatewayFixture();
    const mailbox = w.opened.mailbox as { finish: Mailbox["finish"] };
    const { finish } = mailbox;
    const refused = () => w.log.filter((line) => line.includes("the disk is full")).length;
    mailbox.finish = () => Promise.reject(new Error("the disk is full"));
    w.telegram.say(1, "one");
    await w.telegram.until(() => refused() > 0);
    w.telegram.say(2, "/whoami");
    await w.telegram.until(() => refused() > 2);
    w.telegram.say(1, "two");
    expect(w.telegram.fromBot()).toEqual([]);
    mailbox.finish = finish;
    await w.telegram.until(() => texts(w, 1).includes("You said: two"));
    expect(texts(w, 1).filter((shown) => shown.startsWith("You said"))).toEqual(["You said: one", "You said: two"]);
    await answered(w, 2);
  });

  it("drop intermediate texts, but no queued message", async () => {
    const script: Script = (request) => ({ text: `seen ${String(request.messages.at(-1)?.text)}`, everyMs: 400 });
    const config = "display:\n  busy_input_mode: queue\nagent:\n  gateway_notify_interval: 1\n";
    const w = await openGatewayFixture({ script, config });
    const mailbox = w.opened.mailbox as { enqueue: Mailbox["enqueue"] };
    const { enqueue } = mailbox;
    const wasNotSent = (words: string) =>
      w.log.some((line) => line.includes(`${words} was not sent: the disk is full`));
    mailbox.enqueue = () => Promise.reject(new Error("the disk is full"));
    w.telegram.say(1, "one one one one");
    await w.llm.arrived(1);
    w.telegram.say(1, "two");
    await w.telegram.until(() => wasNotSent("ack") && wasNotSent("still0"));
    mailbox.enqueue = enqueue;
    await w.telegram.until(() => texts(w, 1).includes("seen two"));
    const answers = texts(w, 1).filter((shown) => !shown.startsWith("⏳"));
    expect(answers).toEqual(["seen one one one one", "seen two"]);
  });

  it("do not repeat a message whose result could not be stored", async () => {
    const w = await openGatewayFixture();
    const mailbox = w.opened.mailbox as { sent: Mailbox["sent"] };
    const { sent } = mailbox;
    mailbox.sent = () => Promise.reject(new Error("the disk is full"));
    w.telegram.say(1, "one");
    await w.telegram.until(() => w.log.filter((line) => line.includes("is delayed: the disk is full")).length > 1);
    w.telegram.say(1, "two");
    mailbox.sent = sent;
    await w.telegram.until(() => texts(w, 1).includes("You said: two"));
    expect(texts(w, 1)).toEqual(["You said: one", "You said: two"]);
  });

  it("in the pairing files deny only unknown users, without a reply", async () => {
    const files = { "platforms/pairing/telegram-approved.json": "{", "platforms/pairing/_rate_limits.json": "{" };
    const w = await openGatewayFixture({
      files,
      env: { TELEGRAM_ALLOWED_USERS: "1" },
      config: "unauthorized_dm_behavior: pair\n",
    });
    w.telegram.say(99, "who are you?");
    w.telegram.say(1, "hello");
    await answered(w, 1);
    expect(texts(w, 1)).toEqual(["You said: hello"]);
    expect(texts(w, 99)).toEqual([]);
    expect(w.log.some((line) => line.includes("the pairing list of telegram cannot be read"))).toBe(true);
  });

  it("in the topics table affect one message, not the following ones", async () => {
    let broken = true;
    const store = {
      usesTelegramTopics: async () => true,
      isTelegramTopicModeEnabled: async () => {
        if (broken) throw new Error("the database is locked");
        return true;
      },
    } as unknown as ConstructorParameters<typeof Topics>[0];
    const topics = new Topics(store, Date.now);
    const source = { platform: "telegram", chatId: "1", chatKind: "dm" as const, userId: "1" };
    const event = { account: "b", messageId: "1", source, text: "hi", at: 1 };
    await expect(topics.lobby(event)).rejects.toThrow("locked");
    broken = false;
    expect(await topics.lobby(event)).toContain("lobby");
  });
});
