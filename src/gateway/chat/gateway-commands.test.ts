// What people can order in a chat, and what happens beside its turns.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { answered, closeGateways, openGatewayFixture, type Script, texts } from "../../../test/kit/gateway-fixture.ts";
import { calls, hang, text } from "../../../test/servers/fake-llm.ts";

afterEach(closeGateways);

const OWNER = 'gateway:\n  owners: ["telegram:1"]\n';

describe("/cron", () => {
  it("lists and changes the jobs of this chat, and no others", async () => {
    const w = await openGatewayFixture({ config: OWNER });
    const { actions } = await w.opened.app.cron();
    const elsewhere = actions.create({ schedule: "1h", prompt: "x", deliver: "slack" });
    await expect(elsewhere).rejects.toThrow("slack is not set up here");
    const here = { platform: "telegram", chat_id: "2" };
    const job = await actions.create({ schedule: "every 2h", prompt: "water the plants", name: "plants" }, here);
    const other = await actions.create({ schedule: "every 3h", prompt: "secret", name: "owner's job" });
    w.telegram.say(2, "/cron");
    await answered(w, 2);
    expect(texts(w, 2)[0]).toContain(`${job.id}  plants`);
    expect(texts(w, 2)[0]).not.toContain("owner's job");
    w.telegram.say(2, `/cron remove ${other.id}`);
    await answered(w, 2, 2);
    expect(texts(w, 2)[1]).toContain("There is no job");
    w.telegram.say(2, `/cron pause ${job.id}`);
    await answered(w, 2, 3);
    expect(texts(w, 2)[2]).toBe("Paused: plants.");
    expect((await actions.find(job.id)).state).toBe("paused");
    await actions.create({ schedule: "every 3h", prompt: "another secret", name: "plants" });
    w.telegram.say(2, "/cron resume plants");
    await answered(w, 2, 4);
    expect(texts(w, 2)[3]).toBe("Resumed: plants.");
    w.telegram.say(2, "/cro list");
    await answered(w, 2, 5);
    expect(texts(w, 2)[4]).not.toContain("owner's job");
    w.telegram.say(1, "/cron list");
    await answered(w, 1);
    expect(texts(w, 1)[0]).toContain("owner's job");
    w.telegram.say(1, "/cron run nothing-like-it");
    await answered(w, 1, 2);
    expect(texts(w, 1)[1]).toContain("nothing-like-it");
    w.telegram.say(1, "/cron constructor plants");
    await answered(w, 1, 3);
    expect(texts(w, 1)[2]).toMatch(/^Usage: \/cron list/);
  });
});

describe("quick commands", () => {
  const config = `${OWNER}quick_commands:
  disk:
    type: exec
    command: echo "free \${QUICK_TOKEN:-nothing}"; exit 3
  who:
    type: alias
    target: /whoami
`;

  it("run without the model, stand for others, and are in /help", async () => {
    const w = await openGatewayFixture({
      config,
      env: { TELEGRAM_ALLOWED_USERS: "1,2", QUICK_TOKEN: "secret-value-12345" },
    });
    w.telegram.say(1, "/disk");
    await answered(w, 1);
    expect(texts(w, 1)[0]).toBe("free nothing\n(exit code 3)");
    w.telegram.say(1, "/who");
    await answered(w, 1, 2);
    expect(texts(w, 1)[1]).toContain("You are User 1 (1) on telegram.");
    expect(w.llm.requests).toHaveLength(0);
    w.telegram.say(1, "/help");
    await answered(w, 1, 3);
    for (const name of ["disk", "who", "background", "cron", "topic", "voice", "update", "sethome", "new", "skills"])
      expect(texts(w, 1)[2]).toContain(`/${name}`);
  });
});

describe("/topic", () => {
  it("makes the chat a lobby, and its topics sessions of their own", async () => {
    const w = await openGatewayFixture();
    w.telegram.say(1, "/topic");
    await answered(w, 1);
    w.telegram.say(1, "hello");
    w.telegram.say(1, "hello again");
    await answered(w, 1, 2);
    expect(texts(w, 1)[1]).toContain("This chat is the lobby");
    w.telegram.say(1, "in a topic", { extra: { message_thread_id: 77, is_topic_message: true } });
    await answered(w, 1, 3);
    expect(texts(w, 1)).toHaveLength(3);
    expect(w.telegram.fromBot(1).at(-1)).toMatchObject({ text: "You said: in a topic", thread: 77 });
    w.telegram.say(1, "/topic off");
    await answered(w, 1, 4);
    w.telegram.say(1, "hello");
    await answered(w, 1, 5);
    expect(texts(w, 1)[4]).toBe("You said: hello");
  });
});

describe("/update and /restart", () => {
  it("say how, and say when the gateway is back", async () => {
    const w = await openGatewayFixture();
    w.telegram.say(1, "/update");
    await answered(w, 1);
    expect(texts(w, 1)[0]).toContain("npm install -g");
    w.telegram.say(1, "/restart");
    await answered(w, 1, 2);
    expect(existsSync(join(w.home.path, ".restart_notify.json"))).toBe(true);
    await w.restart();
    await answered(w, 1, 3);
    expect(texts(w, 1)[2]).toBe("♻️ The gateway is back.");
    await w.restart();
    w.telegram.say(1, "hi");
    await answered(w, 1, 4);
    expect(texts(w, 1)).toHaveLength(4);
  });
});

describe("an edited message", () => {
  it("that still waits is answered in its new words", async () => {
    const script = ((request: { messages: readonly { text?: string }[] }) => ({
      text: `re: ${String(request.messages.at(-1)?.text)}`,
      everyMs: 300,
    })) as Script;
    const w = await openGatewayFixture({ script, config: "display:\n  busy_input_mode: queue\n" });
    w.telegram.say(1, "first");
    await w.llm.arrived(1);
    const second = w.telegram.say(1, "buy milk");
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.startsWith("⏳")));
    w.telegram.edit(1, second, "buy oat milk");
    await w.telegram.until(() => texts(w, 1).filter((shown) => shown.startsWith("re:")).length === 2);
    expect(texts(w, 1).at(-1)).toBe("re: buy oat milk");
    await expect.poll(async () => (await w.opened.mailbox.counts()).inbox).toBe(0);
    w.telegram.edit(1, second, "too late");
    w.telegram.say(1, "third");
    await w.telegram.until(() => texts(w, 1).includes("re: third"));
    expect(JSON.stringify(texts(w, 1))).not.toContain("too late");
  });
});

describe("a background process", () => {
  it("is heard of by the chat that started it and by its agent", async () => {
    const script = ((request: { messages: readonly { role: string; text?: string }[] }) => {
      const last = request.messages.at(-1);
      if (last?.role === "tool") return text("It is on its way.");
      if (String(last?.text).startsWith("[background process")) return text(`It ended: ${String(last?.text)}`);
      const args = { command: "sleep 0.5; echo all-built; exit 4", background: true, notify_on_complete: true };
      return calls([{ name: "terminal", args }]);
    }) as Script;
    const w = await openGatewayFixture({ script, config: "display:\n  background_process_notifications: error\n" });
    w.telegram.say(1, "build it");
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.startsWith("It ended:")));
    const shown = texts(w, 1);
    expect(shown[0]).toBe("It is on its way.");
    expect(shown[1]).toMatch(/^🔔 background process proc_\w+ ended/);
    expect(shown[2]).toContain("all-built");
    expect(texts(w, 2)).toEqual([]);
  });
});

describe("a turn that a restart cut off", () => {
  it("goes on, and the chat is told once", async () => {
    const script = ((_: unknown, index: number) => (index < 2 ? hang() : text("finished"))) as Script;
    const w = await openGatewayFixture({ script });
    w.telegram.say(1, "long work");
    await w.llm.arrived(1);
    await w.gateway.stop(50);
    await w.restart();
    await w.llm.arrived(2);
    await answered(w, 1);
    await w.gateway.stop(50);
    await w.restart();
    await w.telegram.until(() => texts(w, 1).includes("finished"));
    expect(texts(w, 1)).toEqual(["♻️ The gateway restarted; continuing.", "finished"]);
  });
});

describe("keys", () => {
  it("that change in .env serve the next turn, and home channels at once", async () => {
    const w = await openGatewayFixture({
      files: { ".env": "MODEL_KEY=first-key-12345678\n" },
      env: { TELEGRAM_ALLOWED_USERS: "1" },
      config: 'gateway:\n  owners: ["telegram:9"]\n',
    });
    const file = join(w.home.path, "config.yaml");
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace("provider: custom\n", "provider: custom\n  key_env: MODEL_KEY\n"),
    );
    await w.restart();
    w.telegram.say(1, "a");
    await answered(w, 1);
    const keys = () =>
      w.llm.requests.filter(({ tools }) => tools.length > 0).map(({ headers }) => headers.authorization);
    expect(keys()).toEqual(["Bearer first-key-12345678"]);
    writeFileSync(join(w.home.path, ".env"), "MODEL_KEY=second-key-12345678\nTELEGRAM_ALLOWED_USERS=1,9\n");
    // The file is looked at four times a second at most.
    await new Promise((resolve) => setTimeout(resolve, 300));
    w.telegram.say(1, "b");
    await answered(w, 1, 2);
    expect(keys()).toEqual(["Bearer first-key-12345678", "Bearer second-key-12345678"]);
    expect(w.opened.app.redact("second-key-12345678")).not.toContain("second-key");
    w.telegram.say(9, "may I?");
    await answered(w, 9);
    w.telegram.say(9, "/sethome");
    await answered(w, 9, 2);
    expect(readFileSync(join(w.home.path, ".env"), "utf8")).toContain("TELEGRAM_HOME_CHANNEL=9");
    expect(w.gateway.deliveries.home("telegram")).toEqual({ platform: "telegram", chatId: "9" });
  });
});

describe("plugins", () => {
  const plugin = `
export function register(ctx) {
  ctx.registerHook("pre_gateway_dispatch", ({ event }) => {
    if (event.text === "spam") return { action: "skip", reason: "spam" };
    if (event.text.startsWith("!")) return { action: "rewrite", text: "please " + event.text.slice(1) };
    return { action: "allow" };
  });
  ctx.registerHook("on_session_reset", ({ session_id, platform }) => {
    globalThis.resets ??= [];
    globalThis.resets.push([session_id, platform]);
  });
}
`;
  const files = {
    "plugins/doorman/plugin.yaml": "name: doorman\nversion: 1.0.0\ndescription: Looks at messages\napi: 1\n",
    "plugins/doorman/index.js": plugin,
  };

  it("may drop and reword messages, and hear of new sessions", async () => {
    const w = await openGatewayFixture({ files, config: "plugins:\n  enabled: [doorman]\n" });
    w.telegram.say(1, "spam");
    w.telegram.say(1, "!help me");
    await answered(w, 1);
    expect(texts(w, 1)).toEqual(["You said: please help me"]);
    w.telegram.say(1, "/new");
    await answered(w, 1, 2);
    const index = JSON.parse(readFileSync(join(w.home.path, "sessions", "sessions.json"), "utf8"));
    const { resets } = globalThis as { resets?: [string, string][] };
    expect(resets).toEqual([[index["agent:main:telegram:dm:1"].session_id, "telegram"]]);
  });
});

describe("/start", () => {
  it("greets, and names the home channel where none is set", async () => {
    const w = await openGatewayFixture();
    w.telegram.say(1, "/start");
    await answered(w, 1);
    expect(texts(w, 1)[0]).toContain("/help");
    expect(texts(w, 1)[0]).toContain("/sethome");
    w.telegram.say(1, "/sethome");
    await answered(w, 1, 2);
    w.telegram.say(1, "/start");
    await answered(w, 1, 3);
    expect(texts(w, 1)[2]).not.toContain("/sethome");
  });
});

describe("Telegram's menu", () => {
  it("shows the commands of chats, and is set anew only when they change", async () => {
    const w = await openGatewayFixture();
    const menus = () => w.telegram.calls.filter((call) => call.method === "setMyCommands");
    await w.telegram.until(() => menus().length === 1);
    const [menu] = menus().map((call) => call.params.commands as readonly { command: string }[]);
    const names = menu?.map(({ command }) => command);
    expect(names).toEqual(expect.arrayContaining(["new", "stop", "background", "cron", "sethome"]));
    expect(names).not.toContain("quit");
    // A whole turn later the menu's stamp is kept too.
    w.telegram.say(1, "hi");
    await answered(w, 1);
    await w.restart();
    w.telegram.say(1, "hi again");
    await answered(w, 1, 2);
    expect(menus()).toHaveLength(1);
  });
});
