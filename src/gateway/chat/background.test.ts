// Background tasks of a chat: results, questions and restarts.
import { symlinkSync, writeFileSync } from "node:fs";
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
import { calls, hang, text } from "../../../test/servers/fake-llm.ts";
import type { Mailbox } from "../../core/store/mailbox.ts";

afterEach(closeGateways);

type Request = { readonly messages: readonly { readonly role: string; readonly text?: string }[] };
const lastWords = (request: Request) => String(request.messages.at(-1)?.text);
const results = (w: GatewayFixture) => texts(w, 1).filter((shown) => shown.startsWith("🗂"));

describe("/background", () => {
  it("runs in parallel with the chat and sends its result with a header", async () => {
    const script = ((request: Request) => {
      const words = lastWords(request);
      return { text: `done: ${words}`, ...(words === "count the stars" ? { everyMs: 300 } : {}) };
    }) as Script;
    const w = await openGatewayFixture({ script });
    w.telegram.say(1, "/background count the stars");
    await answered(w, 1);
    expect(texts(w, 1)[0]).toMatch(/^Started as bg_\d{6}_[0-9a-f]{6}/);
    w.telegram.say(1, "hello");
    await w.telegram.until(() => texts(w, 1).includes("done: hello"));
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.includes("done: count the stars")));
    expect(texts(w, 1).at(-1)).toMatch(/^🗂 Background task bg_\w+: count the stars\n\ndone: count the stars$/);
  });

  it("does not start a task that cannot be stored, and does not count it as running", async () => {
    const w = await openGatewayFixture({ script: () => text("done") });
    const mailbox = w.opened.mailbox as { setMemory: Mailbox["setMemory"] };
    const { setMemory } = mailbox;
    mailbox.setMemory = (platform, key, value) =>
      key === "background" ? Promise.reject(new Error("the disk is full")) : setMemory(platform, key, value);
    w.telegram.say(1, "/bg dig");
    await w.telegram.until(() => texts(w, 1).includes("⚠️ the disk is full"));
    mailbox.setMemory = setMemory;
    w.telegram.say(1, "/bg");
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.startsWith("What should be done")));
    expect(w.llm.requests).toEqual([]);
  });

  it("resumes a task after a restart and sends one result", async () => {
    let asked = 0;
    const script = ((request: Request) => {
      if (!lastWords(request).includes("something long")) return text("hello");
      asked += 1;
      return asked === 1 ? hang() : text(`done: ${lastWords(request)}`);
    }) as Script;
    const w = await openGatewayFixture({ script });
    w.telegram.say(1, "/bg something long");
    await answered(w, 1);
    await w.telegram.until(() => asked === 1);
    await w.restart();
    await w.telegram.until(() => results(w).length === 1);
    expect(results(w)[0]).toMatch(
      /^🗂 Background task bg_\w+: something long\n\ndone: [^[]*\[The program was restarted/,
    );
    await w.restart();
    w.telegram.say(1, "hi");
    await w.telegram.until(() => texts(w, 1).includes("hello"));
    expect(results(w)).toHaveLength(1);
  });

  it("gives up a task after too many interruptions and tells the user how to start it again", async () => {
    const w = await openGatewayFixture({ script: () => hang() });
    w.telegram.say(1, "/bg dig a hole");
    await answered(w, 1);
    for (const _ of [1, 2, 3]) await w.restart();
    await w.telegram.until(() => results(w).length === 1);
    expect(results(w)[0]).toMatch(/ended 3 times before this task finished.*\n\/background dig a hole$/);
    await w.restart();
    expect(results(w)).toHaveLength(1);
  });

  it("does not resume the task of a user who has lost access", async () => {
    const w = await openGatewayFixture({ script: () => hang(), env: {} });
    const code = await w.opened.pairing.request("telegram", { id: "1", name: "Ada" });
    await w.opened.pairing.approve("telegram", code ?? "");
    w.telegram.say(1, "/bg work");
    await answered(w, 1);
    await w.telegram.until(() => w.llm.requests.length === 1);
    await w.opened.pairing.revoke("telegram", "1");
    await w.restart();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(w.llm.requests).toHaveLength(1);
    expect(results(w)).toEqual([]);
  });

  it("does not send protected files", async () => {
    const script: Script = (request) => text(`Here.\nMEDIA:${lastWords(request)}`);
    const w = await openGatewayFixture({ script, env: { TELEGRAM_ALLOWED_USERS: "1", HOME: "/nonexistent" } });
    const link = join(w.home.path, "notes.txt");
    writeFileSync(join(w.home.path, "auth.json"), '{"secret":1}');
    symlinkSync(join(w.home.path, "auth.json"), link);
    w.telegram.say(1, `/bg ${link}`);
    await w.telegram.until(() => results(w).length === 1);
    expect(results(w)[0]).toMatch(/Here\.\n\n\[A protected file was not sent\.\]$/);
    expect(w.telegram.fromBot(1).map((message) => message.kind)).not.toContain("document");
  });

  it("keeps a question open during later turns and after a long idle time", async () => {
    const script = ((request: Request) => {
      if (lastWords(request) === "hello") return text("hi");
      if (request.messages.at(-1)?.role === "tool") return text(`told: ${lastWords(request).slice(0, 300)}`);
      return calls([{ name: "terminal", args: { command: "rm -rf /tmp/hermes-background-test" } }]);
    }) as Script;
    const w = await openGatewayFixture({ script, cleanUpMs: 50 });
    w.telegram.say(1, "/bg clean up");
    const asked = () => w.telegram.fromBot(1).find((message) => message.markup.includes("ea:once"));
    await w.telegram.until(() => asked() !== undefined);
    const question = asked();
    if (!question) throw new Error("no question");
    w.telegram.say(1, "hello");
    await w.telegram.until(() => texts(w, 1).includes("hi"));
    w.telegram.say(1, "/stop");
    await w.telegram.until(() => texts(w, 1).includes("Nothing is running."));
    await new Promise((resolve) => setTimeout(resolve, 200));
    w.telegram.press(1, question, /ea:once:\w+/.exec(question.markup)?.[0] ?? "");
    await w.telegram.until(() => results(w).length === 1);
    expect(w.telegram.answers).toEqual(["once"]);
    expect(results(w)[0]).not.toMatch(/denied/i);
  });
});
