// Chat commands: replies, failures, and that the chat still works afterwards.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  answered,
  closeGateways,
  type GatewayFixture,
  openGatewayFixture,
  type Script,
  texts,
} from "../../../test/kit/gateway-fixture.ts";
import { hang, text } from "../../../test/servers/fake-llm.ts";

afterEach(closeGateways);

/** Sends the text and returns the next message in the chat. */
async function sendCommand(w: GatewayFixture, words: string): Promise<string> {
  const before = texts(w, 1).length;
  w.telegram.say(1, words);
  await answered(w, 1, before + 1);
  return texts(w, 1)[before] ?? "";
}

describe("/model", () => {
  it("rejects a model that cannot be opened and keeps the current one", async () => {
    const w = await openGatewayFixture();
    const refused = await sendCommand(w, "/model nosuch --provider nowhere");
    expect(refused).toContain('Unknown provider "nowhere"');
    expect(refused).toContain("hermes model list");
    expect(await sendCommand(w, "hello")).toBe("You said: hello");
    expect(await sendCommand(w, "/model")).toContain("test-model");
    expect(await sendCommand(w, "/model other-model")).toMatch(/^This session now uses other-model \(answered in/);
    expect(await sendCommand(w, "hello again")).toBe("You said: hello again");
    expect(w.llm.requests.filter(({ tools }) => tools.length > 0).at(-1)?.model).toBe("other-model");
  });
});

describe("/new", () => {
  it("sets the title of the session before its first message", async () => {
    const w = await openGatewayFixture();
    expect(await sendCommand(w, "/new Harbour plans")).toBe('New session: "Harbour plans".');
    expect(await sendCommand(w, "/title")).toBe("Harbour plans");
    expect(await sendCommand(w, "hello")).toBe("You said: hello");
    expect(w.llm.requests.find(({ tools }) => tools.length > 0)?.system).toContain("Hermes");
    expect(await sendCommand(w, "/title")).toBe("Harbour plans");
  });
});

describe("hooks", () => {
  it("run for a session that /new started", async () => {
    const files = {
      "hooks/diary/HOOK.yaml": 'name: diary\nevents: ["session:start"]\n',
      "hooks/diary/handler.mjs":
        'import { appendFileSync } from "node:fs";\nexport const handle = (event, { session_id }) =>\n  appendFileSync(new URL("diary", import.meta.url), session_id.concat(String.fromCharCode(10)));\n',
    };
    const w = await openGatewayFixture({ files });
    await sendCommand(w, "hello");
    await sendCommand(w, "/new");
    const record = readFileSync(join(w.home.path, "hooks", "diary", "diary"), "utf8")
      .trim()
      .split("\n");
    expect(new Set(record).size).toBe(2);
  });
});

describe("a context engine", () => {
  it("learns of /new, but not of /resume", async () => {
    const code = `import { appendFileSync } from "node:fs";
      const note = (word) => appendFileSync(new URL("calls", import.meta.url), word.concat(" "));
      export function register(ctx) {
        ctx.registerContextEngine({
          name: "noting",
          compress: async (messages) => messages,
          onSessionEnd: async () => note("end"),
          onSessionReset: () => note("reset"),
        });
      }`;
    const files = { "plugins/noting/plugin.yaml": "name: noting\napi: 1\n", "plugins/noting/index.js": code };
    const config = "plugins: { enabled: [noting] }\ncontext: { engine: noting }\n";
    const w = await openGatewayFixture({ files, config });
    const calls = () => readFileSync(join(w.home.path, "plugins", "noting", "calls"), "utf8").trim();
    await sendCommand(w, "/new Old one");
    await sendCommand(w, "hello");
    await sendCommand(w, "/new");
    expect(calls()).toBe("end reset");
    await sendCommand(w, "hello again");
    expect(await sendCommand(w, "/resume Old one")).toContain("Resumed session");
    expect(calls()).toBe("end reset end");
  });
});

describe("/help", () => {
  it("is a list without aligned columns", async () => {
    const w = await openGatewayFixture({
      config: 'quick_commands:\n  gpu: { type: alias, target: "/background check it" }\n',
    });
    const lines = (await sendCommand(w, "/help")).split("\n");
    expect(lines).toContain("/approve [all] [session|always]: Approve pending actions");
    expect(lines).toContain("/gpu: Short for /background check it");
    expect(await sendCommand(w, "/status")).toMatch(/^Session: \d/);
  });
});

describe("messages to a busy chat", () => {
  it("are all acknowledged; soon following ones edit the first acknowledgement", async () => {
    const script = ((request: { messages: readonly { text?: string }[] }) =>
      request.messages.at(-1)?.text === "first" ? hang() : text("done")) as Script;
    const w = await openGatewayFixture({ script, config: "display:\n  busy_input_mode: queue\n" });
    w.telegram.say(1, "first");
    await w.llm.arrived(1);
    expect(await sendCommand(w, "second")).toMatch(/^⏳ Queued: next \(\d+ s so far\)/);
    w.telegram.say(1, "third");
    await w.telegram.until(() => /^⏳ Queued: next \(2 messages, /.test(texts(w, 1)[0] ?? ""));
    expect(await sendCommand(w, "/stop")).toBe("Stopped. Dropped waiting messages: 2.");
  });
});

describe("the conversation", () => {
  it("is taken back, branched and continued toward a goal", async () => {
    const w = await openGatewayFixture();
    expect(await sendCommand(w, "remember the harbour")).toBe("You said: remember the harbour");
    expect(await sendCommand(w, "forget the harbour")).toBe("You said: forget the harbour");
    expect(await sendCommand(w, "/undo")).toContain("forget the harbour");
    expect(await sendCommand(w, "/branch Two")).toBe('Continued in "Two".');
    expect(await sendCommand(w, "and now?")).toBe("You said: and now?");
    const sent = JSON.stringify(w.llm.requests.filter(({ tools }) => tools.length > 0).at(-1)?.body);
    expect(sent).toContain("remember the harbour");
    expect(sent).not.toContain("forget the harbour");
    expect(await sendCommand(w, "/skin mono")).toContain("no command");
    // The model repeats what it is asked, which is not a verdict: the goal pauses after three of them.
    w.telegram.say(1, "/goal count the boats");
    await w.telegram.until(() => texts(w, 1).some((line) => line.includes("Goal paused")));
    const lines = texts(w, 1).slice(6);
    expect(lines.filter((line) => line.includes("[Continuing toward your standing goal]"))).toHaveLength(3);
    expect(lines.at(-1)).toContain("answers that cannot be read");
    expect(await sendCommand(w, "/goal")).toContain("count the boats");
  });
});
