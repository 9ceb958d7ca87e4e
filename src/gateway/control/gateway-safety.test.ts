// Nets under the chats: compaction before a turn, the health of webhooks, and where answers of programs go.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { freePort } from "../../../test/kit/free-port.ts";
import {
  answered,
  closeGateways,
  type GatewayFixture,
  openGatewayFixture,
  type Script,
  texts,
} from "../../../test/kit/gateway-fixture.ts";
import { calls, hang, text } from "../../../test/servers/fake-llm.ts";

afterEach(closeGateways);

const sessionOf = (w: GatewayFixture) =>
  JSON.parse(readFileSync(join(w.home.path, "sessions", "sessions.json"), "utf8"))["agent:main:telegram:dm:1"];

describe("a chat that grew too large", () => {
  const settings = "compression:\n  threshold: 0.99\n  protect_last_n: 2\n  protect_first_n: 1\n";
  const long = "a long story about ships and harbours ".repeat(40);

  /** `tokens` is what the model says that the third request cost. */
  async function grow(tokens: number, more = ""): Promise<{ w: GatewayFixture; before: string }> {
    let turns = 0;
    const script = ((request: { tools: readonly unknown[] }) => {
      if (request.tools.length === 0) return text("A summary: ships were discussed.");
      turns += 1;
      return text(`answer ${turns}. ${long}`, { usage: { input: turns === 3 ? tokens : 2_000, output: 10 } });
    }) as Script;
    const w = await openGatewayFixture({ script, config: `${settings}${more}` });
    for (let turn = 1; turn <= 3; turn++) {
      w.telegram.say(1, `question ${turn}. ${long}`);
      await w.telegram.until(() => texts(w, 1).some((shown) => shown.startsWith(`answer ${turn}.`)));
    }
    const before = sessionOf(w).session_id as string;
    w.telegram.say(1, "and now?");
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.startsWith("answer 4.")));
    return { w, before };
  }

  it("is compacted at 85 % of the window, before the turn, and keeps what was said", async () => {
    const { w, before } = await grow(0.86 * 128_000);
    expect(w.log.filter((line) => line.includes("was compacted before its turn"))).toHaveLength(1);
    const after = sessionOf(w).session_id as string;
    expect(after).not.toBe(before);
    expect(await w.opened.app.store.getSession(before)).toMatchObject({ end_reason: "compression" });
    expect(await w.opened.app.store.messageCount(before)).toBe(6);
    const last = w.llm.requests.filter((request) => request.tools.length > 0).at(-1);
    expect(JSON.stringify(last?.messages)).toContain("and now?");
    expect(JSON.stringify(last?.messages).length).toBeLessThan(
      JSON.stringify(w.llm.requests.at(2)?.messages).length * 3,
    );
  });

  it("is left alone below that", async () => {
    const { w, before } = await grow(0.8 * 128_000);
    expect(w.log.some((line) => line.includes("was compacted"))).toBe(false);
    expect(sessionOf(w).session_id).toBe(before);
  });

  it("is compacted at the limit of messages, whatever the window", async () => {
    const { w, before } = await grow(2_000, "  hygiene_hard_message_limit: 6\n");
    expect(w.log.filter((line) => line.includes("was compacted before its turn"))).toHaveLength(1);
    expect(sessionOf(w).session_id).not.toBe(before);
  });

  it("and was compacted by hand goes on after a restart where it was", async () => {
    let asked = 0;
    const script: Script = (request) => {
      if (request.tools.length === 0) return text("A summary: ships were discussed.");
      const words = String(request.messages.at(-1)?.text);
      if (!words.includes("and now?")) return text(`answer. ${long}`);
      asked += 1;
      return asked === 1 ? hang() : text(`resumed: ${words}`);
    };
    const w = await openGatewayFixture({ script, config: settings });
    for (const turn of [1, 2, 3]) {
      w.telegram.say(1, `question ${turn}. ${long}`);
      await answered(w, 1, turn);
    }
    const before = sessionOf(w).session_id;
    w.telegram.say(1, "/compress");
    await w.telegram.until(() => sessionOf(w).session_id !== before);
    w.telegram.say(1, "and now?");
    await w.telegram.until(() => asked === 1);
    await w.restart();
    const resumed = () => texts(w, 1).find((shown) => shown.startsWith("resumed:"));
    await w.telegram.until(() => resumed() !== undefined);
    expect(resumed()).toContain("[The program was restarted");
  });
});

describe("programs that write by webhook", () => {
  const SECRET = "a-secret-for-senders";
  const post = (port: number, route: string, body: object, id = String(Math.random())) => {
    const raw = JSON.stringify(body);
    const headers = {
      "x-webhook-signature": createHmac("sha256", SECRET).update(raw).digest("hex"),
      "x-request-id": id,
    };
    return fetch(`http://127.0.0.1:${port}/webhooks/${route}`, { method: "POST", headers, body: raw });
  };

  async function withRoutes(script?: Script): Promise<{ w: GatewayFixture; port: number }> {
    const port = await freePort();
    const config = `webhook:
  probe_seconds: 0.2
  routes:
    chat: { secret: ${SECRET}, prompt: "{text}", deliver: "telegram:2" }
    topic: { secret: ${SECRET}, prompt: "{text}", deliver: "telegram:-1005:7" }
    home: { secret: ${SECRET}, prompt: "{text}", deliver: telegram }
    quiet: { secret: ${SECRET}, prompt: "{text}" }
    lost: { secret: ${SECRET}, prompt: "{text}", deliver: "slack:C1" }
`;
    const env = {
      TELEGRAM_ALLOWED_USERS: "1,2",
      TELEGRAM_HOME_CHANNEL: "3",
      WEBHOOK_ENABLED: "true",
      WEBHOOK_PORT: String(port),
    };
    const w = await openGatewayFixture({ config, env, ...(script ? { script } : {}) });
    const state = async () => (await w.gateway.status()).platforms.find(({ name }) => name === "webhook")?.state;
    await expect.poll(state, { timeout: 10_000 }).toBe("ok");
    return { w, port };
  }

  it("are answered in the chat, the topic or the home channel that the route names", async () => {
    const { w, port } = await withRoutes();
    for (const route of ["chat", "topic", "home"])
      expect((await post(port, route, { text: `for ${route}` })).status).toBe(202);
    await w.telegram.until(() => w.telegram.fromBot().filter(({ text }) => text !== "…").length === 3);
    expect(texts(w, 2)).toEqual(["You said: for chat"]);
    expect(w.telegram.fromBot("-1005")).toMatchObject([{ text: "You said: for topic", thread: 7 }]);
    expect(texts(w, 3)).toEqual(["You said: for home"]);
  });

  it("are worked for without an answer where the route names none, and nothing is left undone", async () => {
    const { w, port } = await withRoutes((request) =>
      request.messages.at(-1)?.role === "tool" ? text("done") : calls([{ name: "todo", args: {} }], { text: "I look" }),
    );
    await post(port, "quiet", { text: "count" });
    await w.llm.arrived(2);
    await expect.poll(async () => (await w.opened.mailbox.counts()).inbox).toBe(0);
    expect(w.telegram.fromBot()).toEqual([]);
    expect(await w.opened.mailbox.counts()).toMatchObject({ outbox: 0, failed: 0 });
  });

  it("are dropped where the place does not exist", async () => {
    const { w, port } = await withRoutes();
    await post(port, "lost", { text: "x" });
    await expect.poll(async () => (await w.opened.mailbox.counts()).inbox).toBe(0);
    expect(w.llm.requests).toEqual([]);
  });

  it("give no orders, and are not asked", async () => {
    const { w, port } = await withRoutes((request) => {
      if (request.messages.at(-1)?.role === "tool") return text(`Tool: ${String(request.messages.at(-1)?.text)}`);
      const words = String(request.messages.at(-1)?.text);
      return words === "clean"
        ? calls([{ name: "terminal", args: { command: "rm -rf /tmp/hermes-webhook-test" } }])
        : text(`You said: ${words}`);
    });
    await post(port, "chat", { text: "/restart" });
    await answered(w, 2);
    expect(texts(w, 2)).toEqual(["You said: /restart"]);
    await post(port, "chat", { text: "clean" });
    await answered(w, 2, 2);
    expect(texts(w, 2)[1]).toContain("no user is available to approve it");
  });
});

describe("Telegram by webhook", () => {
  it("calls itself ok only while Telegram's deliveries arrive, and sets itself up again", async () => {
    const port = await freePort();
    const w = await openGatewayFixture({
      env: {
        TELEGRAM_ALLOWED_USERS: "1",
        TELEGRAM_WEBHOOK_URL: "https://bot.example/telegram",
        TELEGRAM_WEBHOOK_SECRET: "a-long-enough-secret",
        TELEGRAM_WEBHOOK_PORT: String(port),
      },
    });
    const state = async () => (await w.gateway.status()).platforms[0]?.state;
    const reason = async () => (await w.gateway.status()).platforms[0]?.reason ?? "";
    await expect.poll(state, { timeout: 10_000 }).toBe("ok");
    w.telegram.webhookTrouble = {
      pending_update_count: 3,
      last_error_date: Math.floor(Date.now() / 1000) + 60,
      last_error_message: "Connection refused",
    };
    await expect.poll(state, { timeout: 10_000 }).not.toBe("ok");
    await expect.poll(reason, { timeout: 10_000 }).toContain("deliveries fail: Connection refused");
    w.telegram.webhookTrouble = {};
    await expect.poll(state, { timeout: 10_000 }).toBe("ok");
    w.telegram.webhook = { url: "https://somebody.else/", secret: "x" };
    await expect.poll(() => w.telegram.webhook?.url, { timeout: 15_000 }).toBe("https://bot.example/telegram");
    await expect.poll(state, { timeout: 10_000 }).toBe("ok");
  });
});

describe("what concerns everybody", () => {
  it("is changed by the owner only, wherever they write", async () => {
    const w = await openGatewayFixture({
      env: { TELEGRAM_ALLOWED_USERS: "1,2" },
      config: 'gateway:\n  owners: ["telegram:1"]\n',
    });
    w.telegram.say(2, "/sethome");
    w.telegram.say(2, "/restart");
    await answered(w, 2, 2);
    expect(texts(w, 2)).toEqual(Array(2).fill("Only the owner of this agent (gateway.owners) may do that."));
    w.telegram.say(1, "/sethome", { chat: { id: -7, type: "group", title: "Family" } });
    await answered(w, -7);
    expect(texts(w, -7)[0]).toContain("now the home channel");
  });
});
