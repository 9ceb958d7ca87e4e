// The gateway as people in chats meet it: private chats, groups, commands, hooks, who may write.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { answered, closeGateways, openGatewayFixture, type Script, texts } from "../../../test/kit/gateway-fixture.ts";
import { tempHome } from "../../../test/kit/temp-home.ts";
import { calls, text } from "../../../test/servers/fake-llm.ts";

afterEach(closeGateways);

describe("a private chat", () => {
  it("answers, remembers the session, and confirms updates only after they are kept", async () => {
    const w = await openGatewayFixture();
    w.telegram.say(1, "hello");
    await answered(w, 1);
    expect(texts(w, 1)).toEqual(["You said: hello"]);
    w.telegram.say(1, "again");
    await answered(w, 1, 2);
    const index = JSON.parse(readFileSync(join(w.home.path, "sessions", "sessions.json"), "utf8"));
    const entry = index["agent:main:telegram:dm:1"];
    expect(entry).toMatchObject({ platform: "telegram", chat_type: "dm", origin: { chat_id: "1", user_id: "1" } });
    expect(entry.session_id).toMatch(/^\d{8}_\d{6}_[0-9a-f]{8}$/);
    expect(await w.opened.app.store.messageCount(entry.session_id)).toBe(4);
    await w.telegram.until(() => w.telegram.unconfirmed === 0);
  });

  it("handles a message once, however often it is delivered", async () => {
    const w = await openGatewayFixture();
    w.telegram.say(1, "one");
    await answered(w, 1);
    const rows = await w.opened.mailbox.accept("telegram", [
      {
        account: "123456",
        messageId: "1",
        text: "one",
        source: { platform: "telegram", chatId: "1", chatKind: "dm", userId: "1" },
        at: 0,
      },
    ]);
    expect(rows).toEqual([]);
  });

  it("formats Markdown, splits long answers and keeps code blocks whole", async () => {
    const code = `\`\`\`ts\n${"const line = 1;\n".repeat(400)}\`\`\``;
    const w = await openGatewayFixture({
      script: (request) => text(request.messages.at(-1)?.text === "b" ? code : "**bold** and `code <1>`"),
    });
    w.telegram.say(1, "a");
    await answered(w, 1);
    expect(w.telegram.calls.find((call) => call.method === "sendMessage")?.params).toMatchObject({
      parse_mode: "HTML",
      text: "<b>bold</b> and <code>code &lt;1&gt;</code>",
    });
    w.telegram.say(1, "b");
    await answered(w, 1, 3);
    const parts = w.telegram.calls.filter((call) => call.method === "sendMessage").slice(1);
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts)
      expect(String(part.params.text)).toMatch(/^<pre><code class="language-ts">[\s\S]*<\/code><\/pre>/);
  });

  it("sends a file that the answer names", async () => {
    const home = tempHome();
    const path = join(home.path, "report.pdf");
    writeFileSync(path, "PDF");
    const w = await openGatewayFixture({ script: [text(`Here it is.\nMEDIA:${path}`)] });
    w.telegram.say(1, "send it");
    await answered(w, 1, 2);
    expect(w.telegram.fromBot(1).map(({ kind, text: words }) => [kind, words])).toEqual([
      ["message", "Here it is."],
      ["document", ""],
    ]);
    home.remove();
  });

  it("gives the model a file that a person sent", async () => {
    const w = await openGatewayFixture({ script: (request) => text(JSON.stringify(request.messages.at(-1)?.text)) });
    w.telegram.files.set("F1", Buffer.from("name,age\nada,36\n"));
    const document = {
      file_id: "F1",
      file_unique_id: "u",
      file_name: "people.csv",
      mime_type: "text/csv",
      file_size: 17,
    };
    w.telegram.say(1, "", { extra: { document, caption: "look", text: undefined } });
    await answered(w, 1);
    expect(texts(w, 1)[0]).toContain("ada,36");
    expect(texts(w, 1)[0]).toContain("look");
    expect(texts(w, 1)[0]).toContain(join("cache", "documents", "doc_"));
  });
});

describe("who may write", () => {
  it("ignores strangers where a list exists, and pairs them where none does", async () => {
    const w = await openGatewayFixture({ env: {} });
    w.telegram.say(7, "hi");
    await answered(w, 7);
    const code = /approve telegram ([A-Z2-9]{8})/.exec(texts(w, 7)[0] ?? "")?.[1] ?? "";
    expect(w.llm.requests).toHaveLength(0);
    await expect(w.opened.pairing.approve("telegram", "AAAAAAAA")).rejects.toThrow("unknown");
    await w.opened.pairing.approve("telegram", code);
    w.telegram.say(7, "now");
    await answered(w, 7, 2);
    expect(texts(w, 7)[1]).toBe("You said: now");
    const strict = await openGatewayFixture();
    strict.telegram.say(99, "hi");
    strict.telegram.say(1, "hi");
    await answered(strict, 1);
    expect(texts(strict, 99)).toEqual([]);
  });

  it("keeps people apart: memory, sessions and search", async () => {
    const script = (request: { messages: readonly { text?: string }[] }, index: number) => {
      const last = String(request.messages.at(-1)?.text ?? "");
      if (last.startsWith("remember"))
        return calls([
          { name: "memory", args: { action: "add", target: "memory", content: "The vault code is 7319" } },
        ]);
      if (last.startsWith("search")) return calls([{ name: "session_search", args: { query: "vault" } }]);
      return text(`done ${index}: ${last.slice(0, 400)}`);
    };
    const w = await openGatewayFixture({ script: script as Script });
    w.telegram.say(1, "remember the vault");
    await answered(w, 1);
    w.telegram.say(2, "search my past");
    await answered(w, 2);
    expect(texts(w, 2).join("\n")).not.toContain("7319");
    const prompts = w.llm.requests.filter((request) => JSON.stringify(request.messages).includes("search my past"));
    expect(prompts.length).toBeGreaterThan(0);
    for (const request of prompts) expect(JSON.stringify(request)).not.toContain("7319");
    w.telegram.say(2, "/resume");
    await answered(w, 2, 2);
    expect(texts(w, 2)[1]).toBe("There is no other session yet.");
  });
});

describe("a session that ends by itself", () => {
  it("says so, and starts without the old messages", async () => {
    const w = await openGatewayFixture();
    w.telegram.say(1, "yesterday's topic");
    await answered(w, 1);
    await w.gateway.stop(1_000);
    await w.opened.close();
    const file = join(w.home.path, "sessions", "sessions.json");
    const index = JSON.parse(readFileSync(file, "utf8"));
    index["agent:main:telegram:dm:1"].updated_at = "2020-01-01T00:00:00.000";
    writeFileSync(file, JSON.stringify(index));
    await w.restart();
    w.telegram.say(1, "today");
    await answered(w, 1, 3);
    expect(texts(w, 1)[1]).toContain("New session, because there was no message for 24 hours");
    expect(JSON.stringify(w.llm.requests.at(-1)?.messages)).not.toContain("yesterday");
  });
});

describe("commands", () => {
  it("starts a new session, tells who you are, and knows its own commands", async () => {
    const w = await openGatewayFixture();
    w.telegram.say(1, "hello");
    await answered(w, 1);
    w.telegram.say(1, "/new");
    await answered(w, 1, 2);
    w.telegram.say(1, "fresh");
    await answered(w, 1, 3);
    expect(
      w.llm.requests
        .at(-1)
        ?.messages.map((message) => message.text)
        .join(" "),
    ).not.toContain("hello");
    w.telegram.say(1, "/whoami@hermes_bot");
    await answered(w, 1, 4);
    expect(texts(w, 1)[3]).toContain("User 1 (1) on telegram");
    w.telegram.say(1, "/help");
    await answered(w, 1, 5);
    expect(texts(w, 1)[4]).toContain("/sethome");
    w.telegram.say(1, "/nonsense");
    await answered(w, 1, 6);
    expect(texts(w, 1)[5]).toContain("no command /nonsense");
  });
});

describe("groups", () => {
  it("answers when addressed, in the topic, quoting the question, one session per person", async () => {
    const w = await openGatewayFixture({ env: { TELEGRAM_ALLOWED_USERS: "1,2", TELEGRAM_REQUIRE_MENTION: "true" } });
    const chat = { id: -1001, type: "supergroup", title: "Team", is_forum: true };
    const topic = { message_thread_id: 5, is_topic_message: true };
    w.telegram.say(1, "just talking", { chat, extra: topic });
    const asked = w.telegram.say(2, "@hermes_bot what now", {
      chat,
      extra: { ...topic, entities: [{ type: "mention", offset: 0, length: 11 }] },
    });
    await answered(w, -1001);
    expect(w.telegram.fromBot(-1001)).toMatchObject([
      { text: "You said: [User 2] what now", thread: 5, replyTo: asked },
    ]);
  });
});

describe("hooks", () => {
  it("tells a handler of events and lets it deny a command", async () => {
    const home = tempHome();
    const out = join(home.path, "seen.txt");
    const w = await openGatewayFixture();
    const folder = join(w.home.path, "hooks", "watch");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "HOOK.yaml"), "name: watch\nevents: [agent:end, 'command:*']\n");
    writeFileSync(
      join(folder, "handler.mjs"),
      `import { appendFileSync } from "node:fs";\nexport function handle(event, context) { appendFileSync(${JSON.stringify(out)}, event + " " + (context.response ?? "") + "\\n"); if (event === "command:usage") return { decision: "deny", message: "not today" }; }\n`,
    );
    await w.restart();
    w.telegram.say(1, "hello");
    await answered(w, 1);
    w.telegram.say(1, "/usage");
    await answered(w, 1, 2);
    expect(texts(w, 1)[1]).toBe("not today");
    expect(readFileSync(out, "utf8")).toBe("agent:end You said: hello\ncommand:usage \n");
    home.remove();
  });
});
