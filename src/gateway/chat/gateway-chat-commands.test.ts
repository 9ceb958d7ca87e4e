// Orders in a chat that go wrong or need words: what the person reads, and that the chat lives on.
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

/** Says it and gives what the chat reads next. */
async function order(w: GatewayFixture, words: string): Promise<string> {
  const before = texts(w, 1).length;
  w.telegram.say(1, words);
  await answered(w, 1, before + 1);
  return texts(w, 1)[before] ?? "";
}

describe("/model", () => {
  it("does not take what cannot be opened, and the chat goes on as before", async () => {
    const w = await openGatewayFixture();
    const refused = await order(w, "/model nosuch --provider nowhere");
    expect(refused).toContain('Unknown provider "nowhere"');
    expect(refused).toContain("hermes model list");
    expect(await order(w, "hello")).toBe("You said: hello");
    expect(await order(w, "/model")).toContain("test-model");
    expect(await order(w, "/model other-model")).toBe("This session now uses other-model.");
    expect(await order(w, "hello again")).toBe("You said: hello again");
    expect(w.llm.requests.filter(({ tools }) => tools.length > 0).at(-1)?.model).toBe("other-model");
  });
});

describe("/new", () => {
  it("gives the session its name, before anything is said in it", async () => {
    const w = await openGatewayFixture();
    expect(await order(w, "/new Harbour plans")).toBe('New session: "Harbour plans".');
    expect(await order(w, "/title")).toBe("Harbour plans");
    expect(await order(w, "hello")).toBe("You said: hello");
    expect(w.llm.requests.find(({ tools }) => tools.length > 0)?.system).toContain("Hermes");
    expect(await order(w, "/title")).toBe("Harbour plans");
  });
});

describe("hooks", () => {
  it("hear of a session that /new began", async () => {
    const files = {
      "hooks/diary/HOOK.yaml": 'name: diary\nevents: ["session:start"]\n',
      "hooks/diary/handler.mjs":
        'import { appendFileSync } from "node:fs";\nexport const handle = (event, { session_id }) =>\n  appendFileSync(new URL("diary", import.meta.url), session_id.concat(String.fromCharCode(10)));\n',
    };
    const w = await openGatewayFixture({ files });
    await order(w, "hello");
    await order(w, "/new");
    const record = readFileSync(join(w.home.path, "hooks", "diary", "diary"), "utf8")
      .trim()
      .split("\n");
    expect(new Set(record).size).toBe(2);
  });
});

describe("/help", () => {
  it("is a list for fonts of any width", async () => {
    const w = await openGatewayFixture({
      config: 'quick_commands:\n  gpu: { type: alias, target: "/background check it" }\n',
    });
    const lines = (await order(w, "/help")).split("\n");
    expect(lines).toContain("/approve [all] [session|always]: Approve what waits for approval");
    expect(lines).toContain("/gpu: Short for /background check it");
    expect(await order(w, "/status")).toMatch(/^Session: \d/);
  });
});

describe("messages to a busy chat", () => {
  it("are all acknowledged: those that follow soon, in the first one's words", async () => {
    const script = ((request: { messages: readonly { text?: string }[] }) =>
      request.messages.at(-1)?.text === "first" ? hang() : text("done")) as Script;
    const w = await openGatewayFixture({ script, config: "display:\n  busy_input_mode: queue\n" });
    w.telegram.say(1, "first");
    await w.llm.arrived(1);
    expect(await order(w, "second")).toMatch(/^⏳ Queued: next \(\d+ s so far\)/);
    w.telegram.say(1, "third");
    await w.telegram.until(() => /^⏳ Queued: next \(2 messages, /.test(texts(w, 1)[0] ?? ""));
    expect(await order(w, "/stop")).toBe("Stopped. Dropped waiting messages: 2.");
  });
});
