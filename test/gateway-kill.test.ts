// kill -9 at random points while messages are answered, with flood control: no message is lost or answered twice, and the
// order is kept. 2,000 messages and 20 kills in the full form.
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { fullProof } from "./kit/full-proof.ts";
import { hermesProgram } from "./kit/run-hermes.ts";
import { tempHome } from "./kit/temp-home.ts";
import { type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";
import { FakeTelegram } from "./servers/fake-telegram.ts";

const MESSAGES = fullProof ? 2_000 : 400;
const KILLS = fullProof ? 20 : 8;
const CHATS = 40;
/** Minimum time between two kills, so that a new process can do some work. */
const LIFE_MS = { least: 700, most: 1_900 };

const home = tempHome();
const telegram = await new FakeTelegram({ latencyMs: 3, flood: { every: 25, retryAfter: 1 } }).start();
let llm: FakeLlm;
let child: ChildProcess | undefined;
let kills = 0;

function start(): ChildProcess {
  const started = spawn(process.execPath, [hermesProgram(), "gateway", "run"], {
    cwd: home.path,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home.path,
      HERMES_HOME: home.path,
      TELEGRAM_BOT_TOKEN: telegram.token,
      TELEGRAM_API_ROOT: telegram.url,
      TELEGRAM_ALLOW_ALL_USERS: "true",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return started;
}

async function kill(): Promise<void> {
  const dying = child;
  if (!dying) return;
  const gone = new Promise((resolve) => dying.once("exit", resolve));
  dying.kill("SIGKILL");
  await gone;
  kills += 1;
}

/** The mark of a question; the scripted model repeats it. */
const findMark = (words: string) => /#\d+-\d+#/.exec(words)?.[0] ?? "";

function answers(chat: number): string[] {
  return telegram
    .fromBot(chat)
    .map((message) => findMark(message.text))
    .filter((mark) => mark !== "");
}

afterAll(async () => {
  child?.kill("SIGKILL");
  await telegram.close();
  await llm?.close();
  home.remove();
});

describe("kill -9 of the gateway", () => {
  it(`loses and repeats none of ${MESSAGES} messages`, { timeout: 300_000 }, async () => {
    llm = await startFakeLlm({
      strict: false,
      script: (request) => {
        const asked = request.messages.filter((message) => message.role === "user").at(-1);
        return text(`Answer to ${findMark(String(asked?.text ?? ""))}`);
      },
    });
    home.useModel(
      llm,
      "display:\n  busy_input_mode: queue\n  busy_ack_enabled: false\nplatforms:\n  telegram:\n    extra:\n      poll_seconds: 2\n      rate_per_chat: 1000\n      rate_total: 1000\nauxiliary:\n  title_generation:\n    enabled: false\n",
    );
    writeFileSync(join(home.path, ".env"), "");
    const expected = new Map<number, string[]>();
    let next = 0;
    const sayMore = (count: number) => {
      for (let n = 0; n < count && next < MESSAGES; n++, next++) {
        const chat = 1000 + Math.floor(Math.random() * CHATS);
        const list = expected.get(chat) ?? [];
        const mark = `#${chat}-${list.length}#`;
        list.push(mark);
        expected.set(chat, list);
        telegram.say(chat, `Question ${mark}`);
      }
    };
    const total = () => [...expected.keys()].reduce((sum, chat) => sum + answers(chat).length, 0);
    child = start();
    while (next < MESSAGES) {
      sayMore(MESSAGES / KILLS);
      await sleep(LIFE_MS.least + Math.random() * (LIFE_MS.most - LIFE_MS.least));
      await kill();
      child = start();
    }
    const deadline = Date.now() + 150_000;
    while (total() < MESSAGES && Date.now() < deadline) {
      await sleep(1_500 + Math.random() * 1_500);
      if (kills < KILLS + 5 && total() < MESSAGES * 0.95) {
        await kill();
        child = start();
      }
    }
    await sleep(1_500);
    const wrong = [...expected].filter(([chat, marks]) => answers(chat).join() !== marks.join());
    const left = telegram.fromBot().filter((message) => message.text === "…").length;
    const notes = telegram.fromBot().filter((message) => message.text.startsWith("(Sent again")).length;
    process.stdout.write(
      `${MESSAGES} messages, ${kills} kills, ${left} placeholders left, ${notes} repeated with a note\n`,
    );
    expect(wrong.map(([chat, marks]) => ({ chat, asked: marks.join(" "), answered: answers(chat).join(" ") }))).toEqual(
      [],
    );
    expect(notes).toBe(0);
    expect(kills).toBeGreaterThanOrEqual(KILLS);
  });
});
