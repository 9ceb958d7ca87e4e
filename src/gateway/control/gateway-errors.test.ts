// Broken lines, flood control and restarts: healed or reported, and nothing sent twice.
import { afterEach, describe, expect, it } from "vitest";
import { answered, closeGateways, openGatewayFixture, type Script, texts } from "../../../test/kit/gateway-fixture.ts";
import type { Mailbox } from "../../core/mailbox.ts";
import { Topics } from "../inbound/topics.ts";

afterEach(closeGateways);

describe("trouble on the line", () => {
  it("honours flood control and sends each message once", async () => {
    const w = await openGatewayFixture({ telegram: { flood: { every: 2, retryAfter: 1 } } });
    for (const word of ["a", "b", "c"]) w.telegram.say(2, word);
    w.telegram.say(1, "x");
    await answered(w, 1);
    await w.telegram.until(() => texts(w, 2).some((each) => each.includes("c")));
    expect(new Set(texts(w, 2)).size).toBe(texts(w, 2).length);
  });

  it("finds a message whose answer was lost instead of sending it twice", async () => {
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

  it("loses no message on its way when only the poll's connection breaks", async () => {
    const w = await openGatewayFixture({ telegram: { sendMs: 1_500 }, env: { TELEGRAM_ALLOW_ALL_USERS: "true" } });
    const people = Array.from({ length: 8 }, (_, index) => 100 + index);
    for (const person of people) w.telegram.say(person, "hello");
    const sends = () => w.telegram.calls.filter(({ method }) => method === "sendMessage").length;
    await w.telegram.until(() => sends() >= 5, 60_000);
    await w.telegram.until(() => w.telegram.resetPoll(), 60_000);
    await w.telegram.until(() => people.every((person) => texts(w, person).length === 1), 60_000);
    await w.telegram.until(() => w.gateway.activeTurns === 0);
    expect(w.log.some((line) => line.includes("poll failed"))).toBe(true);
    // Nobody had to look for a message whose end was unknown.
    expect(sends()).toBe(people.length);
    expect(w.telegram.calls.filter(({ method }) => method === "editMessageReplyMarkup")).toEqual([]);
  });

  it.each(["half_open", "stall", "conflict", "error"] as const)(
    "heals after %s and never calls deafness ok",
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
  it("goes on with the same session and drains before it stops", async () => {
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

describe("trouble with the disk", () => {
  it("holds a chat up until its answer can be kept, and keeps the order", async () => {
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

  it("costs words in between, and no message that waits", async () => {
    const script: Script = (request) => ({ text: `seen ${String(request.messages.at(-1)?.text)}`, everyMs: 400 });
    const config = "display:\n  busy_input_mode: queue\nagent:\n  gateway_notify_interval: 1\n";
    const w = await openGatewayFixture({ script, config });
    const mailbox = w.opened.mailbox as { enqueue: Mailbox["enqueue"] };
    const { enqueue } = mailbox;
    const unsaid = (words: string) => w.log.some((line) => line.includes(`${words} was not sent: the disk is full`));
    mailbox.enqueue = () => Promise.reject(new Error("the disk is full"));
    w.telegram.say(1, "one one one one");
    await w.llm.arrived(1);
    w.telegram.say(1, "two");
    await w.telegram.until(() => unsaid("ack") && unsaid("still0"));
    mailbox.enqueue = enqueue;
    await w.telegram.until(() => texts(w, 1).includes("seen two"));
    const answers = texts(w, 1).filter((shown) => !shown.startsWith("⏳"));
    expect(answers).toEqual(["seen one one one one", "seen two"]);
  });

  it("does not send a message again whose end could not be noted", async () => {
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

  it("with the list of paired people keeps out strangers only, without a word", async () => {
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

  it("in the table of topics is met once, not for ever", async () => {
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
