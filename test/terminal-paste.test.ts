// Text pasted and typed into a real terminal: the resulting messages and the screen.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { heldReply, openChat, type TerminalChat } from "./kit/terminal-chat.ts";
import { drip, text } from "./servers/fake-llm.ts";

const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";
const bracketed = (block: string) => `\u001b[200~${block}\u001b[201~`;
const lines = (count: number, end: string) => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join(end);

let chat: TerminalChat | undefined;

afterEach(async () => {
  await chat?.close();
  chat = undefined;
});

async function start(...script: Parameters<typeof openChat>[0]): Promise<TerminalChat> {
  chat = await openChat(script, { plain: true });
  return chat;
}

/** Large texts do not fit the buffer of a terminal at once. */
async function typeInPieces(open: TerminalChat, input: string, size = 2_000): Promise<void> {
  for (let at = 0; at < input.length; at += size) {
    open.screen.type(input.slice(at, at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("a pasted block is one message with its exact text", () => {
  it.each([
    ["200 lines", lines(200, "\n"), lines(200, "\n")],
    ["200 lines, with the line ends that terminals send", lines(200, "\r"), lines(200, "\n")],
    ["200 lines with CR LF", lines(200, "\r\n"), lines(200, "\r\n")],
    // Messages are kept without outer blanks.
    ["a line end at the end", "one\ntwo\n", "one\ntwo"],
    ["tabs and escape sequences", "if x:\n\t\t\u001b[2J\u001b]0;title\u0007\u001b[31mred", undefined],
    ["control keys", "a\u0003b\u0004c\nd\u007fe", undefined],
    ["lines that look like commands", "/quit\n/new", undefined],
    ["a reference", "see @file:config.yaml\nand @folder:.", undefined],
    ["one short line", "just words", undefined],
    ["one long line", "x".repeat(3_000), undefined],
    ["wide characters", "備份😀\näöü", undefined],
  ])("%s", async (_name, block, expected = block) => {
    const open = await start(text("Seen."), text("Seen again."));
    await typeInPieces(open, bracketed(block));
    open.screen.type("\r");
    await open.screen.shows("Seen.");
    expect(open.userTexts()).toEqual([expected]);
    open.screen.type("next\r");
    await open.screen.shows("Seen again.");
    expect(open.userTexts()).toEqual([expected, "next"]);
    expect(open.screen.raw()).not.toContain("\u001b[2J");
  });

  it("with text before and after, cut into pieces inside its markers", async () => {
    const open = await start(text("Seen."));
    for (const piece of ["look: \u001b[2", "00~one\ntw", "o\nthree\u001b[20", "1~ what is it?"]) {
      open.screen.type(piece);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await open.screen.shows("❯ look: [pasted #1: 3 lines] what is it?");
    open.screen.type("\r");
    await open.screen.shows("Seen.");
    expect(open.userTexts()).toEqual(["look: one\ntwo\nthree what is it?"]);
  });

  it("of one megabyte", async () => {
    const block = lines(70_000, "\n").padEnd(1_000_000, "z");
    const open = await start(text("Seen."));
    await typeInPieces(open, bracketed(block), 50_000);
    await open.screen.shows("[pasted #1: 70000 lines]", 60_000);
    open.screen.type("\r");
    await open.llm.arrived(1);
    expect(open.userTexts()).toEqual([block]);
    await open.screen.shows("Seen.");
  }, 90_000);

  it("in a terminal without bracketed paste", async () => {
    const open = await start(text("Seen."), text("Seen again."));
    open.screen.type(`${lines(200, "\r")}\r`);
    await open.screen.shows("Seen.");
    expect(open.userTexts()).toEqual([lines(200, "\n")]);
    open.screen.type("two\rlines");
    await open.screen.shows("[pasted #2: 2 lines]");
    open.screen.type("\r");
    await open.screen.shows("Seen again.");
    expect(open.userTexts().at(-1)).toBe("two\nlines");
  });

  it("while an answer is being written", async () => {
    const reply = heldReply(text("First."));
    const open = await start(reply.promise, text("Second."));
    open.screen.type("go\r");
    await open.llm.arrived(1);
    open.screen.type(bracketed(lines(20, "\n")));
    reply.release();
    await open.screen.shows(/First\.[\s\S]*❯ \[pasted #1: 20 lines\]$/);
    open.screen.type("\r");
    await open.screen.shows("Second.");
    expect(open.userTexts().at(-1)).toBe(lines(20, "\n"));
  });

  it("and Backspace takes its label away as a whole", async () => {
    const open = await start(text("Seen."));
    open.screen.type(`keep ${bracketed("a\nb")}`);
    await open.screen.shows("❯ keep [pasted #1: 2 lines]");
    open.screen.type("\u007f");
    await open.screen.shows(/❯ keep$/);
    open.screen.type("this\r");
    await open.screen.shows("Seen.");
    expect(open.userTexts()).toEqual(["keep this"]);
  });
});

describe("bracketed paste is switched off", () => {
  const offAtTheEnd = (open: TerminalChat) => {
    const raw = open.screen.raw();
    expect(raw).toContain(PASTE_ON);
    expect(raw.lastIndexOf(PASTE_OFF)).toBeGreaterThan(raw.lastIndexOf(PASTE_ON));
  };

  it.each([
    ["Ctrl-D", "\u0004", 0],
    ["/quit", "/quit\r", 0],
  ])("after %s", async (_name, keys, code) => {
    const open = await start();
    open.screen.type(keys);
    expect(await open.screen.exited).toBe(code);
    offAtTheEnd(open);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ])("after %s, also in the middle of an answer", async (name, code) => {
    const open = await start(drip("word ".repeat(400), { everyMs: 1_500 }));
    open.screen.type("go\r");
    await open.screen.shows("word word");
    open.screen.signal(name);
    expect(await open.screen.exited).toBe(code);
    offAtTheEnd(open);
  });
});

describe("the line editor", () => {
  it("keeps text typed while an answer streams out of the answer, with its edits, also after Ctrl-C", async () => {
    const open = await start(drip("word ".repeat(400), { everyMs: 1_500 }), text("Good."));
    open.screen.type("go\r");
    await open.screen.shows("word word");
    open.screen.type("hello wrold");
    open.screen.type("\u007f\u007f\u007f\u007f");
    await open.screen.shows(/(?:word\s+){150}/);
    expect(open.screen.screen()).not.toContain("hello");
    open.screen.type("\u0003");
    await open.screen.shows(/Interrupted[\s\S]*❯ hello w$/);
    open.screen.type("orld\r");
    await open.screen.shows("Good.");
    expect(open.userTexts().at(-1)).toBe("hello world");
  });

  it("shows a message sent while an answer streams on a separate line", async () => {
    const open = await start(drip("word ".repeat(400), { everyMs: 1_500 }), text("Good."));
    open.screen.type("go\r");
    await open.screen.shows("word word");
    open.screen.type("stop, something else\r");
    await open.screen.shows(/word\s*\n {2}❯ stop, something else\n {2}stopping; your message is next/);
    await open.screen.shows("Good.");
  });

  it("clears a draft with Ctrl-C and leaves at the second Ctrl-C on an empty line", async () => {
    const open = await start(text("Good."));
    open.screen.type("a draft to throw away");
    await open.screen.shows("❯ a draft to throw away");
    open.screen.type("\u0003");
    await open.screen.shows(/❯$/);
    expect(open.screen.screen()).not.toContain("a draft");
    open.screen.type("hi\r");
    await open.screen.shows(/Good\.\n❯$/);
    expect(open.userTexts()).toEqual(["hi"]);
    open.screen.type("\u0003");
    await open.screen.shows(/press Ctrl-C again to leave\n❯$/);
    open.screen.type("\u0003");
    expect(await open.screen.exited).toBe(0);
    expect(open.screen.screen()).toMatch(/\nResume with: hermes -r \d/);
  });

  it("resumes after Ctrl-Z when the process cannot be stopped", async () => {
    const open = await start(text("Good."));
    open.screen.type("half");
    await open.screen.shows("❯ half");
    open.screen.type("\u001a");
    await open.screen.shows(/❯ half$/);
    open.screen.type(" and half\r");
    await open.screen.shows("Good.");
    expect(open.userTexts()).toEqual(["half and half"]);
  });

  it("continues on the next line after a backslash", async () => {
    const open = await start(text("Good."));
    open.screen.type("first\\\r");
    await open.screen.shows(/❯ first\\\n…$/);
    open.screen.type("second\r");
    await open.screen.shows("Good.");
    expect(open.userTexts()).toEqual(["first\nsecond"]);
  });

  it("prints the resume hint on a separate line and stores the messages in the history", async () => {
    const open = await start(text("Good."));
    open.screen.type("hi\r");
    await open.screen.shows(/Good\.\n❯$/);
    open.screen.type("\u0004");
    expect(await open.screen.exited).toBe(0);
    expect(open.screen.screen()).toMatch(/\n❯ ?\nResume with: hermes -r \d/);
    expect(readFileSync(join(open.home.path, ".hermes_history"), "utf8")).toBe("hi\n");
  });
});
