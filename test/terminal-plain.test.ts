// The plain mode in a real terminal: labelled linear output and numbered menus; NO_COLOR on the full screen.
import { afterEach, expect, it } from "vitest";
import { openChat, type TerminalChat } from "./kit/terminal-chat.ts";
import { calls, text } from "./servers/fake-llm.ts";

let chat: TerminalChat | undefined;

afterEach(async () => {
  await chat?.close();
  chat = undefined;
});

const STYLE = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*[1-9][0-9;]*m`);

it("says where an answer begins and ends, asks with words, and offers numbered menus", async () => {
  const ask = calls([{ name: "clarify", args: { question: "Which one?", choices: ["Red", "Blue"] } }]);
  chat = await openChat([text("It is blue."), ask, text("Blue then.")], { env: { ACCESSIBLE: "1" } });
  const { screen } = chat;
  screen.type("what colour?\r");
  await screen.shows(/Hermes answers:\nIt is blue\.\nEnd of the answer, 3 words\./);
  screen.type("choose\r");
  await screen.shows("2. Blue");
  await screen.shows("number, or your own words:");
  screen.type("2\r");
  await screen.shows("Blue then.");
  screen.type("/model\r");
  await screen.shows(/1\. .*\n[\s\S]*number, part of a name to filter/);
  screen.type("\r");
  await screen.shows(/❯\s*$/);
  screen.type("\u0004");
  expect(await screen.exited).toBe(0);
  for (const wipe of ["\u001b[2J", "\u001b[3J", "\u001b[?7l"]) expect(screen.raw()).not.toContain(wipe);
});

it("writes no style with NO_COLOR", async () => {
  chat = await openChat([text("Some **bold** text.")], { env: { NO_COLOR: "1" } });
  chat.screen.type("hi\r");
  await chat.screen.shows("bold text.");
  expect(chat.screen.raw()).not.toMatch(STYLE);
});
