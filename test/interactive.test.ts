// The interactive conversation in a real terminal.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { openTerminal, type TestTerminal } from "./kit/terminal.ts";
import { calls, drip, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

let home: TempHome;
let llm: FakeLlm;
let terminal: TestTerminal | undefined;

/** Titles are asked for in the background; they get their own answer so that scripts stay simple. */
async function start(...script: Parameters<FakeLlm["enqueue"]>): Promise<TestTerminal> {
  const rest = [...script];
  llm = await startFakeLlm({
    script: (request) => (request.tools.length === 0 ? text("A title") : (rest.shift() ?? text("nothing left"))),
  });
  home.useModel(llm);
  terminal = openTerminal(["--plain"], { home: home.path });
  await terminal.shows("❯");
  return terminal;
}

beforeEach(() => {
  home = tempHome();
});

afterEach(async () => {
  terminal?.kill();
  await llm.close();
  home.remove();
});

it("converses, shows tools, runs commands, and prints how to resume", async () => {
  writeFileSync(join(home.path, "a.txt"), "the secret word is 備份\n");
  const screen = await start(calls([{ name: "read_file", args: { path: "a.txt" } }]), text("The word is 備份."));
  screen.type("what is the word?\r");
  await screen.shows(/✓ read_file a\.txt · 1 line \(\d/);
  await screen.shows("The word is 備份.");
  screen.type("/status\r");
  await screen.shows("Model     test-model (custom)");
  screen.type("/titel\r");
  await screen.shows("unknown command /titel");
  screen.type("\u0004");
  expect(await screen.exited).toBe(0);
  expect(screen.screen()).toMatch(/Resume with: hermes -r \d{8}_/);
  // The output contains no clear-screen and no clear-scrollback.
  for (const wipe of ["\u001b[2J", "\u001b[3J"]) expect(screen.raw()).not.toContain(wipe);
});

it("asks before a dangerous command, and does not run it after a denial", async () => {
  mkdirSync(join(home.path, "build"));
  const screen = await start(
    calls([{ name: "terminal", args: { command: "rm -rf build" } }]),
    text("Then I leave it."),
    calls([{ name: "terminal", args: { command: "rm -rf build" } }]),
    text("Gone."),
  );
  screen.type("clean up\r");
  await screen.shows("needs your approval");
  screen.type("d\r");
  await screen.shows("Then I leave it.");
  expect(existsSync(join(home.path, "build"))).toBe(true);
  screen.type("do it\r");
  await screen.shows(/approval[\s\S]*approval/);
  screen.type("o\r");
  await screen.shows("Gone.");
  expect(existsSync(join(home.path, "build"))).toBe(false);
});

it("stops on Ctrl-C and accepts the next message", async () => {
  const screen = await start(drip("word ".repeat(400), { everyMs: 1500 }), text("Here I am again."));
  screen.type("tell me a long story\r");
  await screen.shows("word word word");
  screen.type("\u0003");
  await screen.shows(/interrupted/i);
  screen.type("still there?\r");
  await screen.shows("Here I am again.");
});

it("takes a message typed while it works: the turn stops and the message is next", async () => {
  const screen = await start(drip("slow ".repeat(400), { everyMs: 1500 }), text("Switched to the new question."));
  screen.type("first question\r");
  await screen.shows("slow slow");
  screen.type("second question\r");
  await screen.shows("your message is next");
  await screen.shows("Switched to the new question.");
});

it("resumes with a recap", async () => {
  const screen = await start(text("We planted tomatoes."));
  screen.type("what did we plant?\r");
  await screen.shows("We planted tomatoes.");
  screen.type("\u0004");
  await screen.exited;
  const [row] = JSON.parse((await runHermes(["sessions", "list", "--json"], { home: home.path })).stdout);
  terminal = openTerminal(["--plain", "-r", row.id], { home: home.path });
  await terminal.shows("what did we plant?");
  await terminal.shows("We planted tomatoes.");
});
