// A stop while a person is asked: nobody waits for an answer that cannot come, and the question comes again afterwards.
import { afterEach, describe, expect, it } from "vitest";
import {
  answered,
  closeGateways,
  type GatewayFixture,
  openGatewayFixture,
  type Script,
  texts,
} from "../../../test/kit/gateway-fixture.ts";
import { calls, text } from "../../../test/servers/fake-llm.ts";

afterEach(closeGateways);

type Request = {
  readonly messages: readonly { readonly role: string; readonly text?: string }[];
};

const DRAIN_MS = 600_000;
const command = calls([{ name: "terminal", args: { command: "rm -rf /tmp/hermes-drain-test" } }]);
const asked = (w: GatewayFixture) => w.telegram.fromBot(1).filter(({ markup }) => markup.includes("ea:once"));
const press = (w: GatewayFixture, choice: string) => {
  const message = asked(w).at(-1);
  if (message) w.telegram.press(1, message, RegExp(`ea:${choice}:\\w+`).exec(message.markup)?.[0] ?? "");
};

/** Asks for the command until its result is there. */
function removing(request: Request): ReturnType<typeof text> {
  const tool = request.messages.at(-1);
  return tool?.role === "tool" ? text(`It said: ${tool.text}`) : command;
}

describe("a stop while a person is asked", { timeout: 60_000 }, () => {
  it("leaves the turn at once; after the start it goes on and asks again", async () => {
    const w = await openGatewayFixture({ script: removing as Script });
    w.telegram.say(1, "remove it");
    await w.telegram.until(() => asked(w).length === 1);
    await w.restart(DRAIN_MS);
    await w.telegram.until(() => asked(w).length === 1);
    expect(texts(w, 1)[0]).toContain("Not decided: the gateway is restarting");
    // The model must not take the restart for a no.
    expect(JSON.stringify(w.llm.requests.at(-1)?.messages)).not.toContain("Denied");
    press(w, "once");
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.startsWith("It said:")));
    expect(texts(w, 1).at(-1)).toContain('"exit_code":0');
  });

  it("leaves a turn that begins to ask while others are finished", async () => {
    let ask: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      ask = resolve;
    });
    const script = (async (request: Request) => {
      if (request.messages.at(-1)?.text === "remove it") await gate;
      return removing(request);
    }) as Script;
    const w = await openGatewayFixture({ script });
    w.telegram.say(1, "remove it");
    await w.llm.arrived(1);
    const restarting = w.restart(DRAIN_MS);
    await expect.poll(async () => (await w.gateway.status()).state).toBe("draining");
    ask();
    await restarting;
    await w.telegram.until(() => asked(w).length === 1);
    press(w, "deny");
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.includes("the user denied it")));
  });

  it("leaves a task beside the chat in the same way", async () => {
    const w = await openGatewayFixture({ script: removing as Script });
    w.telegram.say(1, "/background remove it");
    await w.telegram.until(() => asked(w).length === 1);
    await w.restart(DRAIN_MS);
    await w.telegram.until(() => asked(w).length === 1);
    expect(texts(w, 1).some((shown) => shown.includes("Not decided: the gateway is restarting"))).toBe(true);
    press(w, "once");
    await w.telegram.until(() => texts(w, 1).some((shown) => shown.startsWith("🗂")));
    expect(texts(w, 1).at(-1)).toContain('"exit_code":0');
  });

  it("is not what a newer message does, but that is no denial either", async () => {
    const script = ((request: Request) =>
      request.messages.at(-1)?.text?.endsWith("never mind") ? text("Fine.") : removing(request)) as Script;
    const w = await openGatewayFixture({ script });
    w.telegram.say(1, "remove it");
    await w.telegram.until(() => asked(w).length === 1);
    w.telegram.say(1, "never mind");
    await w.telegram.until(() => texts(w, 1).includes("Fine."));
    expect(texts(w, 1)[0]).toContain("Not decided: the turn was stopped.");
    expect(
      JSON.stringify(w.llm.requests.find(({ messages }) => messages.at(-1)?.text === "never mind")?.messages),
    ).not.toContain("Denied");
    await answered(w, 1, 2);
  });
});
