// Memory: the number of live objects does not grow with the number of turns.
import { readdirSync } from "node:fs";
import { queryObjects } from "node:v8";
import { afterEach, it } from "vitest";
import {
  closeGateways,
  type GatewayFixture,
  openGatewayFixture,
  type Script,
  texts,
} from "../../../test/kit/gateway-fixture.ts";
import { until } from "../../../test/kit/until.ts";
import { calls, text } from "../../../test/servers/fake-llm.ts";

afterEach(closeGateways);

/** Every fifth message runs a command. */
const script: Script = ({ messages }) => {
  const last = messages.at(-1);
  const number = Number(/\d+$/.exec(String(last?.text))?.[0] ?? 1);
  return last?.role === "user" && number % 5 === 0
    ? calls([{ name: "terminal", args: { command: "true" } }])
    : text("done");
};

const CHATS = [1, 2, 3];

/** Every chat sends that many more messages, one after the other. */
async function talk(w: GatewayFixture, rounds: number): Promise<void> {
  const answered = (chat: number) => texts(w, chat).filter((each) => each === "done").length;
  for (let round = 0; round < rounds; round++) {
    const expected = answered(1) + 1;
    for (const chat of CHATS) w.telegram.say(chat, `message ${expected + chat}`);
    await w.telegram.until(() => CHATS.every((chat) => answered(chat) >= expected));
  }
}

/** Numbers of live objects after a garbage collection. */
function counts(): { [what: string]: number } {
  const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  const descriptors = process.platform === "linux" ? readdirSync("/proc/self/fd").length : 0;
  return { promises: Number(queryObjects(Promise, { format: "count" })), timers, descriptors };
}

// queryObjects exists since Node 20.13.
it.skipIf(queryObjects === undefined)(
  "has the same number of promises, timers and descriptors after many turns as after few",
  async () => {
    const w = await openGatewayFixture({ script });
    await talk(w, 4);
    const few = counts();
    await talk(w, 12);
    // The end of the last turns may still be in progress; a leak would not go away.
    const grown = () => Object.entries(counts()).filter(([what, count]) => count >= (few[what] ?? 0) + 20);
    await until(() => grown().length === 0, {
      timeoutMs: 10_000,
      describe: () => `${JSON.stringify(grown())} to shrink`,
    });
  },
);
