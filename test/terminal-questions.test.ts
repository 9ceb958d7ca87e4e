// Questions in a real terminal: only a clear answer is accepted, and the question cannot be overwritten on the screen.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type ChatOptions, heldReply, openChat, type ScriptedReply, type TerminalChat } from "./kit/terminal-chat.ts";
import { calls, text } from "./servers/fake-llm.ts";

let chat: TerminalChat | undefined;

afterEach(async () => {
  await chat?.close();
  chat = undefined;
});

async function start(script: readonly ScriptedReply[], options: ChatOptions = {}): Promise<TerminalChat> {
  const prepare = (home: string) => mkdirSync(join(home, "work", "data"), { recursive: true });
  chat = await openChat(script, { plain: true, folder: "work", prepare, ...options });
  return chat;
}

const run = (command: string) => calls([{ name: "terminal", args: { command } }]);
const CHOICES = /\[o\]nce {2}\[s\]ession {2}\[a\]lways {2}\[d\]eny\?$/;
const kept = (open: TerminalChat) => existsSync(join(open.home.path, "work", "data"));
const asked = (open: TerminalChat) => open.screen.screen().split("[d]eny?").length - 1;

async function askedTimes(open: TerminalChat, count: number): Promise<void> {
  await open.screen.shows(new RegExp(`(?:\\[d\\]eny\\?[\\s\\S]*){${count}}`));
}

describe("an approval", () => {
  it("is not given by text that only begins like a choice", async () => {
    const open = await start([run("rm -rf data"), text("Left alone.")]);
    open.screen.type("clean up\r");
    await askedTimes(open, 1);
    const answers = ["oh no stop", "stop", "absolutely not", "yes please", "ok", "so", "1", "o o", "", "once!"];
    for (const [index, answer] of answers.entries()) {
      open.screen.type(`${answer}\r`);
      await askedTimes(open, index + 2);
    }
    expect(open.screen.screen()).toContain('"absolutely not" is not one of the choices');
    expect(open.screen.screen()).toContain("nothing was chosen");
    expect(kept(open)).toBe(true);
    open.screen.type("  DENY \r");
    await open.screen.shows("Left alone.");
    expect(kept(open)).toBe(true);
    expect(readFileSync(join(open.home.path, "config.yaml"), "utf8")).not.toContain("allowlist");
  });

  it.each(["o", " Once ", "y", "YES"])("is given by %j", async (answer) => {
    const open = await start([run("rm -rf data"), text("Gone.")]);
    open.screen.type("clean up\r");
    await askedTimes(open, 1);
    open.screen.type(`${answer}\r`);
    await open.screen.shows("Gone.");
    expect(kept(open)).toBe(false);
  });

  it("is not given by a draft typed before the question; the draft is restored", async () => {
    const reply = heldReply(run("rm -rf data"));
    const open = await start([reply.promise, text("Left alone."), text("Added.")]);
    open.screen.type("danger zone\r");
    await open.llm.arrived(1);
    open.screen.type("ok and also add tests");
    reply.release();
    await open.screen.shows(CHOICES);
    open.screen.type("\r");
    await askedTimes(open, 2);
    expect(kept(open)).toBe(true);
    open.screen.type("d\r");
    await open.screen.shows(/Left alone\.[\s\S]*❯ ok and also add tests$/);
    expect(kept(open)).toBe(true);
    open.screen.type(" please\r");
    await open.screen.shows("Added.");
    expect(open.userTexts().at(-1)).toBe("ok and also add tests please");
  });

  it("is not given by complete lines typed before the question; they are the next messages", async () => {
    const reply = heldReply(run("rm -rf data"));
    const open = await start([reply.promise, text("Left alone."), text("After.")], {
      config: "display:\n  busy_input_mode: queue\n",
    });
    open.screen.type("danger zone\r");
    await open.llm.arrived(1);
    open.screen.type("o\r");
    await open.screen.shows("queued: it is sent after this turn");
    reply.release();
    await open.screen.shows(CHOICES);
    expect(kept(open)).toBe(true);
    open.screen.type("d\r");
    await open.screen.shows("After.");
    expect(kept(open)).toBe(true);
    expect(open.userTexts().at(-1)).toBe("o");
  });

  it.each([
    ["bracketed", "\u001b[200~o\r\u001b[201~"],
    ["bracketed, without a line end", "\u001b[200~o\u001b[201~\r"],
    ["several lines in one piece", "o\ryes\rall of it\r"],
  ])("is not given by a paste (%s)", async (_name, paste) => {
    const open = await start([run("rm -rf data"), text("Left alone.")]);
    open.screen.type("clean up\r");
    await askedTimes(open, 1);
    open.screen.type(paste);
    await open.screen.shows("pasted text does not count as an answer");
    await askedTimes(open, 2);
    expect(kept(open)).toBe(true);
    open.screen.type("d\r");
    await open.screen.shows("Left alone.");
    expect(kept(open)).toBe(true);
  });

  it.each([
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
  ])("is refused by %s, and the conversation goes on", async (_name, key) => {
    const open = await start([run("rm -rf data"), text("Left alone."), text("Still here.")]);
    open.screen.type("clean up\r");
    await askedTimes(open, 1);
    open.screen.type(key);
    await open.screen.shows("Left alone.");
    expect(kept(open)).toBe(true);
    open.screen.type("there?\r");
    await open.screen.shows("Still here.");
  });
});

it("two questions at a time are asked one after the other", async () => {
  const both = ["rm -rf data", "rm -rf other"].map((command) => ({ name: "terminal", args: { command } }));
  const open = await start([calls(both), text("Over.")], {
    prepare: (home) => ["data", "other"].map((name) => mkdirSync(join(home, "work", name), { recursive: true })),
  });
  open.screen.type("clean up\r");
  await askedTimes(open, 1);
  const first = open.screen.screen().includes("│ rm -rf data") ? "data" : "other";
  open.screen.type("d\r");
  await askedTimes(open, 2);
  open.screen.type("o\r");
  await open.screen.shows("Over.");
  expect(existsSync(join(open.home.path, "work", first))).toBe(true);
  expect(existsSync(join(open.home.path, "work", first === "data" ? "other" : "data"))).toBe(false);
});

describe("the command in the question", () => {
  it.each([
    ["clears the screen", "rm -rf data # \u001b[2J\u001b[H\u001b[32mls -la (harmless)", "\\x1b[2J\\x1b[H"],
    ["moves up and erases", "rm -rf data\n#\u001b[1A\u001b[2K\rls -la", "\\x1b[1A\\x1b[2K\\rls -la"],
    ["returns to the line's start", "rm -rf data #\rls -la   ", "#\\rls -la"],
    ["turns the direction", "rm -rf data # \u202edrow", "\\u202edrow"],
    ["holds zero width characters", "rm -rf data # a\u200bb", "a\\u200bb"],
  ])("is shown whole when it %s", async (_name, command, shown) => {
    const open = await start([run(command), text("Over.")]);
    open.screen.type("clean up\r");
    // Such a command may be refused without a question; the shown parts are escaped in any case.
    await open.screen.shows(/\[d\]eny\?|Over\./);
    expect(open.screen.raw()).not.toContain("\u001b[2J");
    if (asked(open) === 0) return;
    expect(open.screen.window()).toContain("  │ rm -rf data");
    expect(open.screen.window()).toContain(shown);
    open.screen.type("d\r");
    await open.screen.shows("Over.");
    expect(kept(open)).toBe(true);
  });

  it("is shown line by line, each with a mark, so that no line looks like ours", async () => {
    const open = await start([run("rm -rf data\necho '  [o]nce  [d]eny? d'"), text("Over.")]);
    open.screen.type("clean up\r");
    await open.screen.shows(CHOICES);
    expect(open.screen.window()).toContain("  │ rm -rf data\n  │ echo '  [o]nce  [d]eny? d'");
  });

  it("never scrolls its dangerous part away before the decision", async () => {
    const long = `echo ${"a".repeat(4_000)}; rm -rf data; echo ${"b".repeat(4_000)}`;
    const open = await start([run(long), text("Over.")], { columns: 80, rows: 24 });
    open.screen.type("clean up\r");
    let seen = false;
    for (let page = 1; ; page++) {
      await open.screen.shows(new RegExp(`part ${page} of|${CHOICES.source}`));
      seen ||= open.screen.window().replaceAll("\n  ┆ ", "").includes("; rm -rf data; ");
      if (CHOICES.test(open.screen.window())) break;
      // Before the end only a refusal is possible.
      if (page === 1) {
        open.screen.type("o\r");
        await open.screen.shows(/there is more to see first[\s\S]*part 1 of/);
      }
      open.screen.type("\r");
    }
    expect(seen).toBe(true);
    open.screen.type("d\r");
    await open.screen.shows("Over.");
    expect(kept(open)).toBe(true);
  });
});

describe("a question of the model", () => {
  it("is not answered by a draft; a paste may answer it", async () => {
    const reply = heldReply(calls([{ name: "clarify", args: { question: "Which \u001b[2Jname?" } }]));
    const open = await start([reply.promise, text("Thanks."), text("Next.")]);
    open.screen.type("go\r");
    await open.llm.arrived(1);
    open.screen.type("my next idea");
    reply.release();
    await open.screen.shows(/Which \\x1b\[2Jname\?[\s\S]* {2}>$/);
    open.screen.type("\u001b[200~first\rsecond\u001b[201~\r");
    await open.screen.shows(/Thanks\.[\s\S]*❯ my next idea$/);
    const requests = open.llm.requests.filter((request) => request.tools.length > 0);
    const result = requests.at(-1)?.messages.find((message) => message.role === "tool")?.text ?? "";
    expect(result).toContain("first\\nsecond");
    expect(result).not.toContain("idea");
  });
});
