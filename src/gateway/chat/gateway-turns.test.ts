// What a chat sees while a turn runs: queues, interruptions, questions, growing answers.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { closeGateways, openGatewayFixture, type Script, texts } from "../../../test/kit/gateway-fixture.ts";
import { calls, hang, text } from "../../../test/servers/fake-llm.ts";

afterEach(closeGateways);

describe("while a turn runs", () => {
  const slow = (request: { messages: readonly { text?: string }[] }) => ({
    text: `re: ${String(request.messages.at(-1)?.text)}`,
    everyMs: 400,
  });

  it("queues, acknowledges, and answers in order", async () => {
    const w = await openGatewayFixture({ script: slow as Script, config: "display:\n  busy_input_mode: queue\n" });
    w.telegram.say(1, "first");
    await w.llm.arrived(1);
    w.telegram.say(1, "second");
    w.telegram.say(1, "third");
    await w.telegram.until(() => texts(w, 1).filter((each) => each.startsWith("re:")).length === 3);
    expect(texts(w, 1).filter((each) => each.startsWith("re:"))).toEqual(["re: first", "re: second", "re: third"]);
    expect(texts(w, 1).filter((each) => each.startsWith("⏳"))).toHaveLength(1);
  });

  it("interrupts for a newer message and stops on /stop", async () => {
    const isLong = (request: { messages: readonly { text?: string }[] }) =>
      /^(more )?long work$/.test(String(request.messages.at(-1)?.text));
    const w = await openGatewayFixture({ script: ((request) => (isLong(request) ? hang() : text("quick"))) as Script });
    w.telegram.say(1, "long work");
    await w.llm.arrived(1);
    w.telegram.say(1, "rather this");
    await w.telegram.until(() => texts(w, 1).includes("quick"));
    expect(texts(w, 1)[0]).toMatch(/^⚡/);
    w.telegram.say(1, "more long work");
    await w.telegram.until(() => w.llm.requests.filter(isLong).length === 2);
    w.telegram.say(1, "/stop");
    await w.telegram.until(() => texts(w, 1).includes("Stopped."));
    expect((await w.gateway.status()).activeTurns).toBe(0);
  });

  it("hears the answer to a question in a chat that was idle for long before", async () => {
    const command = calls([{ name: "terminal", args: { command: "rm -rf /tmp/hermes-approval-test" } }]);
    const script: Script = ({ messages }) => {
      const last = messages.at(-1);
      if (last?.role === "tool") return text("finished");
      return last?.text === "clean up" ? command : text("hi");
    };
    const w = await openGatewayFixture({ script, choresMs: 50 });
    w.telegram.say(1, "hello");
    await w.telegram.until(() => texts(w, 1).includes("hi"));
    await new Promise((resolve) => setTimeout(resolve, 300));
    w.telegram.say(1, "clean up");
    const asked = () => w.telegram.fromBot(1).find((message) => message.markup.includes("ea:deny"));
    await w.telegram.until(() => asked() !== undefined);
    const question = asked();
    if (question) w.telegram.press(1, question, /ea:deny:\w+/.exec(question.markup)?.[0] ?? "");
    await w.telegram.until(() => texts(w, 1).includes("finished"));
    expect(w.telegram.answers).toEqual(["deny"]);
  });

  it("asks for approval with buttons, and the press decides", async () => {
    const command = calls([{ name: "terminal", args: { command: "rm -rf /tmp/hermes-approval-test" } }]);
    const w = await openGatewayFixture({ script: [command, text("finished")] });
    w.telegram.say(1, "clean up");
    await w.telegram.until(() => w.telegram.fromBot(1).some((message) => message.markup.includes("ea:deny")));
    const question = w.telegram.fromBot(1).find((message) => message.markup.includes("ea:deny"));
    if (!question) throw new Error("no question");
    const deny = /ea:deny:\w+/.exec(question.markup)?.[0] ?? "";
    // A stranger's press decides nothing.
    w.telegram.press(99, question, deny);
    w.telegram.press(1, question, deny);
    await w.telegram.until(() => texts(w, 1).includes("finished"));
    await w.telegram.until(() => w.telegram.fromBot(1).some((message) => message.text.includes("❌ Deny")));
    expect(w.telegram.answers).toEqual(["Only an owner can decide this.", "deny"]);
  });
});

describe("what a chat sees meanwhile", () => {
  it("shows the answer as it grows and ends in the same message", async () => {
    const words = "word ".repeat(40).trim();
    const config = "streaming:\n  enabled: true\n  edit_interval: 0.05\n  buffer_threshold: 10\n";
    const w = await openGatewayFixture({ script: () => ({ text: words, everyMs: 30 }), config });
    w.telegram.say(1, "tell me");
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.endsWith("▉")));
    await w.telegram.until(() => texts(w, 1).includes(words));
    expect(w.telegram.fromBot(1)).toHaveLength(1);
    expect(w.telegram.fromBot(1)[0]?.edits).toBeGreaterThan(0);
    // Edits make no sound: the person hears of the answer when it begins.
    expect(w.telegram.fromBot(1)[0]?.silent).toBe(false);
  });

  it("ends an answer that has grown for long as a new message, which is heard", async () => {
    const words = "word ".repeat(120).trim();
    const config = "streaming:\n  enabled: true\n  edit_interval: 0.05\n  fresh_final_after_seconds: 0.1\n";
    const w = await openGatewayFixture({ script: () => ({ text: words, everyMs: 60 }), config });
    w.telegram.say(1, "tell me");
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.endsWith("▉")));
    await w.telegram.until(() => texts(w, 1).includes(words));
    await w.telegram.until(() => w.telegram.fromBot(1).length === 1);
    expect(w.telegram.fromBot(1)[0]).toMatchObject({ text: words, edits: 0, silent: false });
  });

  it("leaves no sign of writing behind when a newer message takes its place", async () => {
    const config = "streaming:\n  enabled: true\n  edit_interval: 0.05\n  buffer_threshold: 4\n";
    const script: Script = ({ messages }) =>
      messages.at(-1)?.text === "tell me" ? { text: "Once upon a time", hang: "after_text" } : text("Stopped it.");
    const w = await openGatewayFixture({ script, config });
    w.telegram.say(1, "tell me");
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.endsWith("▉")));
    w.telegram.say(1, "no, something else");
    await w.telegram.until(() => texts(w, 1).includes("Stopped it."));
    await w.telegram.until(() => !texts(w, 1).some((shown) => shown.endsWith("▉")));
    expect(texts(w, 1)[0]).toMatch(/^Once/);
  });

  it("ends in the same message also when the answer is ready before the platform has answered", async () => {
    const config = "streaming:\n  enabled: true\n  edit_interval: 0.05\n  buffer_threshold: 10\n";
    const script: Script = ({ messages }) => {
      if (messages.at(-1)?.role === "tool") return text("And this is the whole answer.");
      return { text: "I look into the file first.", calls: [{ name: "read_file", args: { path: "nothing.txt" } }] };
    };
    const w = await openGatewayFixture({ script, config, telegram: { sendMs: 700 } });
    w.telegram.say(1, "tell me");
    await w.telegram.until(() => texts(w, 1).includes("And this is the whole answer."));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(texts(w, 1)).toEqual(["I look into the file first.", "And this is the whole answer."]);
  });

  it("steers the running turn with the next tool result", async () => {
    const script = (request: { messages: readonly { role: string; text?: string }[] }) => {
      const all = JSON.stringify(request.messages);
      if (all.includes("in French")) return text("Bonjour");
      if (request.messages.at(-1)?.role === "tool") return text("Hello");
      return calls([{ name: "terminal", args: { command: "sleep 2" } }]);
    };
    const w = await openGatewayFixture({ script: script as Script, config: "display:\n  busy_input_mode: steer\n" });
    w.telegram.say(1, "greet me");
    await w.telegram.until(() => w.telegram.fromBot(1).some((message) => message.text.startsWith("🔧 terminal")));
    w.telegram.say(1, "in French");
    await w.telegram.until(() => texts(w, 1).includes("Bonjour"));
    expect(texts(w, 1)[0]).toMatch(/^⏩/);
    expect((await w.opened.mailbox.counts()).inbox).toBe(0);
  });

  it("asks a question with buttons and takes the pressed answer", async () => {
    const script = (request: { messages: readonly { role: string; text?: string }[] }) =>
      request.messages.at(-1)?.role === "tool"
        ? text(`Chosen: ${String(request.messages.at(-1)?.text)}`)
        : calls([{ name: "clarify", args: { question: "Which one?", choices: ["red", "blue"] } }]);
    const w = await openGatewayFixture({ script: script as Script });
    w.telegram.say(1, "paint it");
    await w.telegram.until(() => w.telegram.fromBot(1).some((message) => message.markup.includes("cl:")));
    const question = w.telegram.fromBot(1).find((message) => message.markup.includes("cl:"));
    const data = /cl:\w+:1/.exec(question?.markup ?? "")?.[0] ?? "";
    if (question) w.telegram.press(1, question, data);
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.startsWith("Chosen:") && shown.includes("blue")));
  });
});

describe("a long turn", () => {
  const slow = (request: { messages: readonly { role: string }[] }) =>
    request.messages.at(-1)?.role === "tool"
      ? text("done")
      : calls([{ name: "terminal", args: { command: "sleep 2.5" } }], { reasoning: "I must wait.\nThen answer." });

  it("says that it still works, and hooks hear of its steps", async () => {
    const handler = `import { appendFileSync } from "node:fs";
export const handle = (event, { iteration, tool_names }) =>
  appendFileSync(new URL("log", import.meta.url), [event, iteration, tool_names].join(" "));
`;
    const w = await openGatewayFixture({
      script: slow as Script,
      config: "agent:\n  gateway_notify_interval: 1\n  gateway_timeout_warning: 2\n",
      files: {
        "hooks/steps/HOOK.yaml": "name: steps\nevents: [agent:step]\n",
        "hooks/steps/handler.mjs": handler,
      },
    });
    w.telegram.say(1, "wait");
    await w.telegram.until(() => texts(w, 1).includes("done"));
    expect(texts(w, 1).some((shown) => /^⏳ Still working \(\d s, step 2, at terminal\)/.test(shown))).toBe(true);
    expect(texts(w, 1).some((shown) => shown.startsWith("⚠️ No progress for 2 s"))).toBe(true);
    expect(readFileSync(join(w.home.path, "hooks", "steps", "log"), "utf8")).toBe("agent:step 1 terminal");
  });

  it("shows thoughts and a footer, and takes its progress away, where that is wanted", async () => {
    const config =
      "display:\n  show_reasoning: true\n  runtime_footer:\n    enabled: true\n    fields: [model, context_pct]\n  platforms:\n    telegram:\n      cleanup_progress: true\n";
    const script = (request: { messages: readonly { role: string }[] }) =>
      request.messages.at(-1)?.role === "tool"
        ? text("done", { reasoning: "It is\nfinished.", usage: { input: 12_800, output: 1 } })
        : calls([{ name: "terminal", args: { command: "true" } }]);
    const w = await openGatewayFixture({ script: script as Script, config });
    w.telegram.say(1, "go");
    await w.telegram.until(() => texts(w, 1).length === 1);
    expect(texts(w, 1)[0]).toBe("💭\nIt is\nfinished.\n\ndone\n\ntest-model · 10 %");
    await w.telegram.until(() => !w.telegram.fromBot(1).some((message) => message.text.startsWith("🔧")));
  });
});

describe("a session with a running process", () => {
  it("does not end by itself", async () => {
    const script = (request: { messages: readonly { role: string; text?: string }[] }) => {
      const last = request.messages.at(-1);
      if (last?.role === "tool" || last?.text !== "serve") return text(`seen ${request.messages.length}`);
      return calls([{ name: "terminal", args: { command: "sleep 30", background: true } }]);
    };
    const w = await openGatewayFixture({
      script: script as Script,
      config: "session_reset:\n  mode: idle\n  idle_minutes: 1\n",
    });
    w.telegram.say(1, "serve");
    await w.telegram.until(() => texts(w, 1).length === 1);
    const file = join(w.home.path, "sessions", "sessions.json");
    const before = JSON.parse(readFileSync(file, "utf8"))["agent:main:telegram:dm:1"].session_id;
    w.later(3_600_000);
    w.telegram.say(1, "still there?");
    await w.telegram.until(() => texts(w, 1).length === 2);
    expect(JSON.parse(readFileSync(file, "utf8"))["agent:main:telegram:dm:1"].session_id).toBe(before);
  });
});
