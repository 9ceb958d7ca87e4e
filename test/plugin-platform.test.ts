// The platform of docs/add-a-platform.md as a plugin: the code of the guide, used with the built program.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { FakeHouse } from "./servers/fake-house.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

const guide = join(dirname(dirname(fileURLToPath(import.meta.url))), "docs", "add-a-platform.md");
let home: TempHome;
let house: FakeHouse;
let llm: FakeLlm;
const run = (...args: string[]) => runHermes(args, { home: home.path });

function bring(): void {
  const page = readFileSync(guide, "utf8");
  const files = [...page.matchAll(/<!-- file: (\S+) -->\n```\w+\n([\s\S]*?)```/g)];
  expect(files).toHaveLength(2);
  for (const [, path = "", content = ""] of files) {
    const file = join(home.path, "plugins", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

function configure(extra = ""): void {
  const platform = `platforms:\n  house:\n    extra:\n      url: ${house.url}\n${extra}`;
  home.useModel(llm, `plugins:\n  enabled: [house]\n${platform}`);
  writeFileSync(join(home.path, ".env"), `HOUSE_TOKEN=${house.token}\n`);
}

const receives = (room: string, words: string) =>
  expect.poll(() => house.fromBot(room).join("\n"), { timeout: 20_000 }).toContain(words);

beforeEach(async () => {
  home = tempHome();
  house = await new FakeHouse().start();
  llm = await startFakeLlm({
    script: ({ messages, tools }) => {
      const last = messages.at(-1);
      const words = String(last?.text ?? "");
      if (last?.role === "tool" || tools.length === 0) return text("Told.");
      if (words.startsWith("tell "))
        return calls([{ name: "send_message", args: { target: words.slice(5), message: "Dinner is ready." } }]);
      return text(words.includes("What is on?") ? "Soup is on." : `You said: ${words}`);
    },
  });
  bring();
});

afterEach(async () => {
  await run("gateway", "stop");
  await house.close();
  await llm.close();
  home.remove();
});

describe("a platform of a plugin", { timeout: 90_000 }, () => {
  it("is set up, pairs users, answers and reports its status", async () => {
    home.useModel(llm, "plugins:\n  enabled: [house]\n");
    const bare = await run("gateway", "setup");
    expect(bare.stdout).toContain("· House chat: HOUSE_URL, HOUSE_TOKEN not set");
    expect(bare.stdout).toContain("HOUSE_TOKEN (needed)  Token of the bot");
    const early = await run("cron", "create", "0 8 * * *", "x", "--deliver", "house:kitchen");
    expect(early.code).not.toBe(0);
    expect(early.stderr).toContain("house is not set up here: HOUSE_URL, HOUSE_TOKEN not set");
    configure();
    writeFileSync(join(home.path, ".env"), "HOUSE_TOKEN=wrong\n");
    const wrong = await run("gateway", "setup", "house", "--check");
    expect(wrong).toMatchObject({ code: 1 });
    expect(wrong.stdout).toContain("the house does not know this token");
    configure();
    expect((await run("gateway", "setup", "house", "--check")).stdout).toContain("Signed in to House chat as bot");

    expect(await run("gateway", "start")).toMatchObject({ code: 0 });
    house.say("hall", "ada", "hello");
    await receives("hall", "hermes pairing approve house");
    const code = /approve house (\w+)/.exec(house.fromBot("hall").join("\n"))?.[1] ?? "";
    expect((await run("pairing", "approve", "house", code)).stdout).toContain("ada");
    house.say("hall", "ada", "now me");
    await receives("hall", "You said: now me");
    const status = await run("gateway", "status");
    expect(status).toMatchObject({ code: 0 });
    expect(status.stdout).toContain("✓ house as bot: ok");
    expect((await run("plugins", "list", "--check")).stdout).toContain("house");
    const log = readFileSync(join(home.path, "logs", "gateway.log"), "utf8");
    expect(log).not.toContain(house.token);
  });

  it("takes scheduled results and messages, with and without a gateway, each once", async () => {
    configure("    home_channel: { chat_id: hall }\n");
    const made = await run("cron", "create", "0 8 * * *", "What is on?", "--deliver", "house:kitchen,house");
    expect(made).toMatchObject({ code: 0 });
    const id = /[0-9a-f]{12}/.exec(made.stdout)?.[0] ?? "";
    house.loseAnswers = 1;
    expect(await run("cron", "run", id)).toMatchObject({ code: 0 });
    await receives("kitchen", "Soup is on.");
    await receives("hall", "Soup is on.");
    expect(house.fromBot("kitchen")).toHaveLength(1);
    await run("chat", "-q", "tell house:kitchen");
    await receives("kitchen", "Dinner is ready.");
    expect(await run("gateway", "start")).toMatchObject({ code: 0 });
    await run("chat", "-q", "tell house");
    await receives("hall", "Dinner is ready.");
    expect(house.fromBot("hall")).toHaveLength(2);
  });

  it("loses no message while it is offline, and its errors affect no other platform", async () => {
    configure("    allow_from: [ada]\n");
    const broken = `export function register(ctx) {
      ctx.registerPlatform({ name: "ghost", enabled: () => { throw new Error("boo"); }, connect: async () => ({}) });
      ctx.registerPlatform({ name: "half", enabled: () => ({ ok: true }), connect: async () => ({}) });
      ctx.registerPlatform({ name: "telegram", connect: async () => ({}) });
    }`;
    mkdirSync(join(home.path, "plugins", "broken"));
    writeFileSync(join(home.path, "plugins", "broken", "plugin.yaml"), "name: broken\nkind: platform\n");
    writeFileSync(join(home.path, "plugins", "broken", "index.mjs"), broken);
    const half = broken.split("\n").toSpliced(3, 1).join("\n");
    expect(await run("gateway", "start")).toMatchObject({ code: 0 });
    expect(await run("gateway", "stop")).toMatchObject({ code: 0 });
    house.say("hall", "ada", "while you slept");
    home.useModel(llm, readFileSync(join(home.path, "config.yaml"), "utf8").replace("[house]", "[house, broken]"));
    expect((await run("plugins", "list", "--check")).stdout).toContain('the platform name "telegram" is taken');
    writeFileSync(join(home.path, "plugins", "broken", "index.mjs"), half);
    expect(await run("gateway", "start")).toMatchObject({ code: 0 });
    await receives("hall", "You said: while you slept");
    const status = await run("gateway", "status");
    expect(status).toMatchObject({ code: 1 });
    expect(status.stdout).toContain("✓ house as bot: ok");
    expect(status.stdout).toContain("✗ half: fatal");
    expect(status.stdout).not.toContain("ghost");
  });
});
