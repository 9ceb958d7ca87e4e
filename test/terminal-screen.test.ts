// The conversation screen in a real terminal: tool turns, dialogs, the composer, resizing, and typing while text streams.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type ChatOptions, heldReply, openChat, type ScriptedReply, type TerminalChat } from "./kit/terminal-chat.ts";
import { until } from "./kit/until.ts";
import { calls, drip, text } from "./servers/fake-llm.ts";

let chat: TerminalChat | undefined;

async function start(script: readonly ScriptedReply[], options: ChatOptions = {}): Promise<TerminalChat> {
  chat = await openChat(script, options);
  return chat;
}

afterEach(async () => {
  await chat?.close();
  chat = undefined;
});

/** The typing guard of dialogs ends after a pause. */
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const afterGuard = () => pause(700);

function expectCalm(raw: string): void {
  for (const wipe of ["\u001b[2J", "\u001b[3J", "\u001bc"]) expect(raw).not.toContain(wipe);
}

it("shows a tool turn and a diff, runs commands, and restores the terminal", async () => {
  const open = await start(
    [
      calls([{ name: "write_file", args: { path: "notes.txt", content: "one\ntwo\n" } }]),
      text("Written **twice**:\n\n- one\n- two"),
    ],
    { rows: 30, folder: "project" },
  );
  const { screen } = open;
  screen.type("write it\r");
  await screen.shows("• two");
  const [turn = ""] = /❯ write it[\s\S]*• two/.exec(screen.window()) ?? [];
  // A time is shown only for a call that was not instant.
  const stable = turn.replaceAll(/ written \d+(?:\.\d+)? s$/gm, " written").replaceAll(open.home.path, "HOME");
  expect(stable).toMatchInlineSnapshot(`
    "❯ write it

     ✓ write_file notes.txt · 8 B written
      notes.txt created +2
       1 + one
       2 + two

    Written twice:

    • one
    • two"
  `);
  screen.type("/status\r");
  await screen.shows("Tokens");
  screen.type("/titel\r");
  await screen.shows("unknown command /titel");
  screen.type("!echo from-the-shell\r");
  await screen.shows(/from-the-shell[\s\S]*from-the-shell/);
  screen.type("\u0004");
  expect(await screen.exited).toBe(0);
  expect(screen.screen()).toMatch(/Resume with: hermes -r \d{8}_/);
  expectCalm(screen.raw());
  for (const mode of ["\u001b[?2004l", "\u001b[?7h", "\u001b[?25h", "\u001b[<u"]) expect(screen.raw()).toContain(mode);
});

it("answers approvals with arrow keys and digits only; typed text goes to the draft", async () => {
  const remove = calls([{ name: "terminal", args: { command: "rm -rf build" } }]);
  const open = await start([remove, text("Left it."), remove, text("Gone.")], {
    folder: "project",
    prepare: (home) => mkdirSync(join(home, "project", "build"), { recursive: true }),
  });
  const { screen } = open;
  screen.type("clean up\r");
  await screen.shows("Needs your approval");
  await screen.shows("rm -rf build");
  await afterGuard();
  screen.type("oh no stop\r");
  await afterGuard();
  screen.type("absolutely not 1 and y");
  await afterGuard();
  expect(existsSync(join(open.home.path, "project", "build"))).toBe(true);
  await screen.shows("Needs your approval");
  screen.type("\u001b[A");
  await screen.shows("❯ 4. Deny");
  screen.type("\r");
  await screen.shows("Left it.");
  // The draft comes back.
  await screen.shows("❯ oh no stopabsolutely not 1 and y");
  // While the turn ends, Ctrl-C would stop it; afterwards it clears the draft.
  await until(() => !screen.window().includes("⏱"));
  screen.type("\u0003");
  await until(() => !screen.window().includes("oh no"));
  screen.type("again\r");
  await screen.shows(/Needs your approval[\s\S]*1\. Allow once/);
  await afterGuard();
  screen.type("1");
  await screen.shows("Gone.");
  expect(existsSync(join(open.home.path, "project", "build"))).toBe(false);
  expect(readFileSync(join(open.home.path, "config.yaml"), "utf8")).not.toContain("command_allowlist");
});

it("keeps what is typed while an answer streams out of the answer", async () => {
  const words = Array.from({ length: 400 }, (_, index) => `word${index}`).join(" ");
  const open = await start([drip(words, { everyMs: 5 }), text("Second.")]);
  const { screen } = open;
  screen.type("go\r");
  await screen.shows("word3");
  for (const letter of "hello wrold") {
    screen.type(letter);
    await pause(15);
  }
  for (let count = 0; count < 4; count++) screen.type("\u007f");
  screen.type("orld");
  await screen.shows("❯ hello world");
  await screen.shows("word399");
  const answer = screen.screen().replaceAll(/\s+/g, " ");
  expect(answer).toContain(words.slice(0, 3_000));
  screen.type("\r");
  await screen.shows("Second.");
  expect(open.userTexts()).toEqual(["go", "hello world"]);
  expectCalm(screen.raw());
});

it("survives a storm of resizes with every line of the transcript once", async () => {
  const lines = Array.from({ length: 60 }, (_, index) => `- entry ${index} end`).join("\n");
  const open = await start([text(lines), text("Still fine.")], { columns: 100, rows: 30 });
  const { screen } = open;
  screen.type("list\r");
  await screen.shows("entry 59 end");
  for (let round = 0; round < 40; round++) {
    const before = screen.raw().length;
    screen.resize(40 + ((round * 37) % 80), 12 + ((round * 13) % 30));
    // A frame for the old size that arrives after the resize is a race of every terminal; the next size waits for it.
    await until(() => screen.raw().length > before, { everyMs: 4 });
  }
  screen.resize(100, 30);
  screen.type("more\r");
  await screen.shows("Still fine.");
  const shown = screen.screen();
  for (let index = 0; index < 60; index++) expect(shown.split(`entry ${index} end`)).toHaveLength(2);
  expectCalm(screen.raw());
});

it("collapses a paste of a megabyte, edits several lines, searches the history and completes", async () => {
  const open = await start([text("Got it."), text("Lines."), text("Files.")], {
    prepare: (home) => {
      mkdirSync(join(home, "docs"));
      writeFileSync(join(home, "docs", "my plan.md"), "the plan");
    },
  });
  const { screen } = open;
  const block = `${"x".repeat(99)}\n`.repeat(10_000);
  screen.type(`see \u001b[200~${block}\u001b[201~`);
  await screen.shows("see [pasted #1: 10000 lines]", 30_000);
  screen.type("\r");
  await screen.shows("Got it.", 30_000);
  expect(open.userTexts().at(-1)).toBe(`see ${block.trimEnd()}`);
  for (const keys of [
    "first",
    "\u001b\r",
    "second",
    "\n",
    "third\\",
    "\r",
    "日本語👩‍👩‍👧x",
    "\u001b[D\u001b[D",
    "\u007f!",
    "\r",
  ]) {
    screen.type(keys);
    await pause(80);
  }
  await screen.shows("Lines.");
  expect(open.userTexts().at(-1)).toBe("first\nsecond\nthird\n日本!👩‍👩‍👧x");
  screen.type("\u0012see");
  await screen.shows("history: see");
  screen.type("\u001b");
  await pause(150);
  screen.type("read @plan");
  await screen.shows("docs/my plan.md");
  screen.type("\t");
  await screen.shows('@file:"docs/my plan.md"');
  screen.type("\r");
  await screen.shows("Files.");
  expect(open.userTexts().at(-1)).toContain("the plan");
});

it("stops a turn with Ctrl-C, clears a draft, and leaves at the second press on an empty prompt", async () => {
  const open = await start([drip("word ".repeat(400), { everyMs: 300 }), text("Here.")]);
  const { screen } = open;
  screen.type("story\r");
  await screen.shows("word word");
  screen.type("\u0003");
  await screen.shows("Interrupted");
  await pause(2_100);
  screen.type("a draft");
  await screen.shows("❯ a draft");
  screen.type("\u0003");
  await until(() => !screen.window().includes("a draft"));
  screen.type("\u0003");
  await screen.shows("press Ctrl-C again");
  screen.type("\u0003");
  expect(await screen.exited).toBe(0);
});

it("keeps what was streamed when the process is killed, and reports it on resume", async () => {
  const open = await start([drip("Once upon a time there was a terminal. ".repeat(200), { everyMs: 1_500 })]);
  const { screen } = open;
  screen.type("tell me\r");
  await screen.shows("Once upon a time");
  await pause(1_200);
  process.kill(screen.pid, "SIGKILL");
  await screen.exited;
  const { openTerminal } = await import("./kit/terminal.ts");
  const again = openTerminal(["-c"], { home: open.home.path });
  await again.shows("cut off when the program was killed");
  await again.shows("Once upon a time");
  again.kill();
  await again.exited;
});

it("asks for a text answer and a secret without the draft", async () => {
  const question = heldReply(
    calls([{ name: "clarify", args: { question: "Which database?", choices: ["PostgreSQL", "SQLite"] } }]),
  );
  const open = await start([question.promise, text("SQLite then.")]);
  const { screen } = open;
  screen.type("set it up\r");
  await open.llm.arrived(1);
  screen.type("2 more things");
  question.release();
  await screen.shows("Which database?");
  await afterGuard();
  screen.type("\u001b[B\u001b[B");
  await screen.shows("❯ 2. SQLite");
  screen.type("\r");
  await screen.shows("SQLite then.");
  await screen.shows("❯ 2 more things");
});
