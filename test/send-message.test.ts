// Messages to other chats: by name or id, with and without a gateway, within the rights of the sender.
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openApp } from "../src/app/compose.ts";
import type { Human } from "../src/core/human.ts";
import { absentHuman } from "../src/core/human.ts";
import { serveControl } from "../src/gateway-control/api/control-socket.ts";
import { openHome } from "../src/home/api.ts";
import { createGate } from "../src/security/gate/gate.ts";
import { createPathGuard } from "../src/security/path-guard.ts";
import { sendMessageTool } from "../src/tools/send-message.ts";
import { answered, closeGateways, openGatewayFixture, type Script, texts } from "./kit/gateway-fixture.ts";
import { runHermes } from "./kit/run-hermes.ts";
import { tempHome } from "./kit/temp-home.ts";
import { calls, startFakeLlm, text } from "./servers/fake-llm.ts";
import { FakeTelegram } from "./servers/fake-telegram.ts";

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  await closeGateways();
  for (const end of ends.splice(0).reverse()) await end();
});

const OWNER = 'gateway:\n  owners: ["telegram:1"]\n';

/** A model that passes the user's JSON to the tool, and the tool's result to the user. */
const deliverer = ((request: { messages: readonly { role: string; text?: string }[] }) => {
  const last = request.messages.at(-1);
  const words = String(last?.text ?? "");
  if (last?.role === "tool") return text(`Tool: ${words}`);
  return words.startsWith("{")
    ? calls([{ name: "send_message", args: JSON.parse(words) }])
    : text(`You said: ${words}`);
}) as NonNullable<Script>;

describe("in a chat", () => {
  it("sends to a user by name, and the session of that user remembers it", async () => {
    const w = await openGatewayFixture({ script: deliverer, config: OWNER });
    w.telegram.say(2, "hello");
    await answered(w, 2);
    w.telegram.say(1, JSON.stringify({ target: "telegram:User 2", message: "Dinner at eight." }));
    await w.telegram.until(() => texts(w, 2).includes("Dinner at eight."));
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.includes('"success":true')));
    w.telegram.say(2, "what was that?");
    await answered(w, 2, 3);
    const seen = JSON.stringify(w.llm.requests.at(-1)?.messages);
    expect(seen).toContain("[Delivered from telegram]\\nDinner at eight.");
    const directory = join(w.home.path, "channel_directory.json");
    await w.telegram.until(() => existsSync(directory) && readFileSync(directory, "utf8").includes("User 2"));
    const file = JSON.parse(readFileSync(directory, "utf8"));
    expect(file.platforms.telegram).toContainEqual({ id: "2", name: "User 2", type: "dm", thread_id: null });
  });

  it("does not come between a running turn and its tools, and is remembered after it", async () => {
    const script = ((request: { messages: readonly { role: string; text?: string }[] }) => {
      const last = request.messages.at(-1);
      if (last?.text === "slow") return calls([{ name: "terminal", args: { command: "sleep 2" } }]);
      if (last?.role === "tool" && !last.text?.includes("success")) return text("slept");
      return (deliverer as (request: unknown) => ReturnType<typeof text>)(request);
    }) as NonNullable<Script>;
    const w = await openGatewayFixture({ script, config: OWNER });
    w.telegram.say(2, "slow");
    await w.telegram.until(() => w.telegram.fromBot(2).some((message) => message.text.startsWith("🔧")));
    w.telegram.say(1, JSON.stringify({ target: "telegram:2", message: "Meanwhile." }));
    await w.telegram.until(() => texts(w, 2).includes("Meanwhile.") && texts(w, 2).includes("slept"));
    w.telegram.say(2, "and?");
    await w.telegram.until(() => texts(w, 2).includes("You said: and?"));
    const roles = w.llm.requests
      .findLast((request) => request.messages.at(-1)?.text === "and?")
      ?.messages.map(({ role, text: words }) => `${role}: ${words}`);
    expect(roles?.slice(-2)).toEqual(["assistant: slept\n\n[Delivered from telegram]\nMeanwhile.", "user: and?"]);
  });

  it("lists the chats for the owner, and reports an unknown name", async () => {
    const w = await openGatewayFixture({
      script: deliverer,
      config: OWNER,
      env: { TELEGRAM_ALLOWED_USERS: "1,2", TELEGRAM_HOME_CHANNEL: "1" },
    });
    w.telegram.say(2, "hello");
    await answered(w, 2);
    w.telegram.say(1, '{"action":"list"}');
    await answered(w, 1);
    expect(texts(w, 1)[0]).toContain('{"target":"telegram:2","name":"User 2","kind":"dm"}');
    expect(texts(w, 1)[0]).toContain('{"target":"telegram","name":"home channel","kind":"home"}');
    w.telegram.say(1, '{"target":"telegram:Nobody","message":"hi"}');
    await answered(w, 1, 2);
    expect(texts(w, 1)[1]).toContain('telegram has no chat \\"Nobody\\"');
    w.telegram.say(1, '{"target":"slack","message":"hi"}');
    await answered(w, 1, 3);
    expect(texts(w, 1)[2]).toContain("slack");
  });

  it("limits other users to their own chat and the home channels", async () => {
    const w = await openGatewayFixture({ script: deliverer, config: OWNER });
    w.telegram.say(1, "hello");
    await answered(w, 1);
    w.telegram.say(2, '{"target":"telegram:1","message":"psst"}');
    await answered(w, 2);
    expect(texts(w, 2)[0]).toContain("Only the owner");
    w.telegram.say(2, '{"action":"list"}');
    await answered(w, 2, 2);
    expect(texts(w, 2)[1]).not.toContain("User 1");
    expect(texts(w, 1)).toEqual(["You said: hello"]);
  });

  it("says why a message did not arrive", async () => {
    const w = await openGatewayFixture({ script: deliverer, config: OWNER });
    const path = join(w.home.path, "missing.pdf");
    w.telegram.say(1, JSON.stringify({ target: "telegram:2", message: `Look:\nMEDIA:${path}` }));
    await answered(w, 1);
    expect(texts(w, 1)[0]).toContain("Nothing was sent");
    writeFileSync(path, "PDF");
    w.telegram.say(1, JSON.stringify({ target: "telegram:2", message: `Look:\nMEDIA:${path}` }));
    await w.telegram.until(() => w.telegram.fromBot(2).length === 2);
    expect(w.telegram.fromBot(2).map((message) => message.kind)).toEqual(["message", "document"]);
  });
});

describe("outside the gateway", () => {
  async function terminal(more: { [name: string]: string } = {}) {
    const home = tempHome();
    const llm = await startFakeLlm({ script: deliverer });
    const telegram = await new FakeTelegram().start();
    home.useModel(llm);
    const host = {
      env: { HERMES_HOME: home.path, TELEGRAM_BOT_TOKEN: telegram.token, TELEGRAM_API_ROOT: telegram.url, ...more },
      cwd: home.path,
      platform: "linux",
      homedir: home.path,
    };
    const opened = openHome([], host).home;
    const app = await openApp(opened);
    ends.push(
      () => home.remove(),
      () => llm.close(),
      () => telegram.close(),
      () => app.close(),
    );
    const ask = async (words: string) => {
      const { conversation } = await app.openConversation({ human: absentHuman });
      let answer = "";
      const { signal } = new AbortController();
      for await (const event of conversation.send(words, { signal })) if (event.type === "ended") answer = event.text;
      await conversation.close();
      return answer;
    };
    return { home, llm, telegram, opened, ask };
  }

  it("sends from the terminal without a gateway, also to the home channel", async () => {
    const t = await terminal({ TELEGRAM_HOME_CHANNEL: "7" });
    expect(await t.ask('{"target":"telegram","message":"From the terminal"}')).toContain('"success":true');
    expect(t.telegram.fromBot(7).map((message) => message.text)).toEqual(["From the terminal"]);
    expect(t.telegram.calls.map((call) => call.method)).not.toContain("getUpdates");
  });

  it("finds names in the directory that the gateway left, and reports a wrong token", async () => {
    const t = await terminal();
    const chats = { telegram: [{ id: "5", name: "Ada", type: "dm", thread_id: null }] };
    writeFileSync(join(t.home.path, "channel_directory.json"), JSON.stringify({ updated_at: "", platforms: chats }));
    expect(await t.ask('{"target":"telegram:ada","message":"Hello Ada"}')).toContain('"target":"telegram:5"');
    expect(t.telegram.fromBot(5)).toHaveLength(1);
    const wrong = await terminal({ TELEGRAM_BOT_TOKEN: "123456:WRONG-token-of-nobody-at-all-0000" });
    expect(await wrong.ask('{"target":"telegram:5","message":"x"}')).toContain("rejected the bot token");
  });

  it("leaves the sending to a gateway that runs", async () => {
    const t = await terminal();
    const asked: unknown[] = [];
    const control = await serveControl(t.opened, {
      status: async () => ({}),
      stop: () => undefined,
      restart: () => undefined,
      reload: async () => ({ changed: false }),
      runJob: async () => ({}),
      deliver: async (request) => {
        asked.push(request);
        return { problem: "the chat is gone" };
      },
    });
    ends.push(() => control.close());
    const long = "word ".repeat(40_000);
    expect(await t.ask(JSON.stringify({ target: "telegram:5", message: long }))).toContain("the chat is gone");
    expect(asked).toMatchObject([{ target: { platform: "telegram", chatId: "5" }, message: { mirrorFrom: "cli" } }]);
    expect(t.telegram.calls).toEqual([]);
  });

  it("reaches a chat from the terminal through the gateway's process", { timeout: 90_000 }, async () => {
    const home = tempHome();
    const llm = await startFakeLlm({ script: deliverer });
    const telegram = await new FakeTelegram().start();
    home.useModel(llm);
    const env = {
      TELEGRAM_BOT_TOKEN: telegram.token,
      TELEGRAM_API_ROOT: telegram.url,
      TELEGRAM_ALLOWED_USERS: "1",
    };
    const run = (...args: string[]) => runHermes(args, { home: home.path, env });
    ends.push(
      () => home.remove(),
      () => llm.close(),
      () => telegram.close(),
      async () => void (await run("gateway", "stop")),
    );
    expect(await run("gateway", "start")).toMatchObject({ code: 0 });
    telegram.say(1, "hello");
    await telegram.until(() => telegram.fromBot(1).length === 1, 30_000);
    const directory = join(home.path, "channel_directory.json");
    await expect
      .poll(() => existsSync(directory) && readFileSync(directory, "utf8"), { timeout: 10_000 })
      .toContain("User 1");
    const chat = await run("chat", "-Q", "-q", '{"target":"telegram:User 1","message":"From the terminal"}');
    expect(chat.stdout).toContain('"success":true');
    await telegram.until(() => telegram.fromBot(1).some((message) => message.text === "From the terminal"));
    telegram.say(1, "what did you send?");
    await telegram.until(() => telegram.fromBot(1).length === 3, 30_000);
    expect(JSON.stringify(llm.requests.at(-1)?.messages)).toContain("[Delivered from cli]");
  });

  it("is not offered where no chat platform is set up", async () => {
    const home = tempHome();
    const llm = await startFakeLlm({ script: [text("hi")] });
    home.useModel(llm);
    const host = { env: { HERMES_HOME: home.path }, cwd: home.path, platform: "linux", homedir: home.path };
    const app = await openApp(openHome([], host).home);
    const { conversation } = await app.openConversation({ human: absentHuman });
    for await (const _ of conversation.send("hi", { signal: new AbortController().signal }));
    expect(JSON.stringify(llm.requests[0]?.body)).not.toContain("send_message");
    await conversation.close();
    await app.close();
    await llm.close();
    home.remove();
  });
});

describe("after reading untrusted text", () => {
  function tool(home: string) {
    const pathGuard = createPathGuard({ hermesHome: home, userHome: home });
    const policy = { mode: "off" as const, yolo: true, approvalTimeoutMs: 1_000, sudoPassword: false };
    const sent: string[] = [];
    return {
      sent,
      tool: sendMessageTool({
        isProtected: async (path) => (await pathGuard.read(path, home)).action !== "allow",
        gate: createGate({ userHome: home, hermesHome: home, pathGuard, policy: () => policy }),
        targets: async () => [],
        find: async () => ({ platform: "telegram", chatId: "5" }),
        send: async (_, message) => void sent.push(message.text),
      }),
    };
  }

  const context = (human: Human, tainted: boolean) => ({
    sessionId: "s",
    conversationId: "s",
    callId: "c",
    cwd: "/",
    signal: new AbortController().signal,
    human,
    progress: () => undefined,
    tainted,
    depth: 0,
  });

  it("sends only with approval, in every mode", async () => {
    const home = tempHome();
    ends.push(() => home.remove());
    const questions: string[] = [];
    const answering = (choice: "once" | "deny"): Human => ({
      ...absentHuman,
      present: true,
      approve: async (request) => {
        questions.push(`${request.reason}: ${request.action}`);
        return { choice };
      },
    });
    const args = { target: "telegram:5", message: "the secret plan" };
    const one = tool(home.path);
    await one.tool.run(args, context(absentHuman, false));
    expect(one.sent).toEqual(["the secret plan"]);
    const two = tool(home.path);
    expect(await two.tool.run(args, context(absentHuman, true))).toMatchObject({ failed: true });
    expect(await two.tool.run(args, context(answering("deny"), true))).toMatchObject({ failed: true });
    expect(two.sent).toEqual([]);
    const three = tool(home.path);
    await three.tool.run(args, context(answering("once"), true));
    expect(three.sent).toEqual(["the secret plan"]);
    expect(questions.at(-1)).toContain("would write to telegram:5 after reading untrusted text");
  });

  it("does not send protected files", async () => {
    const home = tempHome();
    ends.push(() => home.remove());
    const file = join(home.path, "notes.txt");
    writeFileSync(join(home.path, "auth.json"), "{}");
    symlinkSync(join(home.path, "auth.json"), file);
    const { tool: send, sent } = tool(home.path);
    const outcome = await send.run({ target: "t:5", message: `MEDIA:${file}` }, context(absentHuman, false));
    expect(outcome.failed).toBe(true);
    expect(sent).toEqual([]);
  });
});
