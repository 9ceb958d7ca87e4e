// Escape sequences in the model's text: a terminal shows them escaped, a pipe gets the bytes.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { openTerminal, type TestTerminal } from "./kit/terminal.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

const CLIPBOARD = "\u001b]52;c;ZXZpbA==\u0007";
const TITLE = "\u001b]0;owned\u001b\\";
const CLEAR = "\u001b[2J\u001b[H\u009b3J";
const ANSWER = `Hello ${CLIPBOARD}${TITLE}${CLEAR}\u001b[1A\rworld\r\nsecond 👨\u200d👩\u200d👧 line`;
const SHOWN = "Hello \\x1b]52;c;ZXZpbA==\\x07\\x1b]0;owned\\x1b\\\\x1b[2J\\x1b[H\\x9b3J\\x1b[1A\\rworld";

let home: TempHome;
let llm: FakeLlm;
let terminal: TestTerminal | undefined;

beforeEach(async () => {
  home = tempHome();
  const rest = [
    calls([{ name: `read_file`, args: { path: `a${CLEAR}${CLIPBOARD}.txt` } }]),
    calls([{ name: `no${CLEAR}tool`, args: {} }]),
    text(ANSWER),
  ];
  llm = await startFakeLlm({
    script: (request) => (request.tools.length === 0 ? text(`T${CLEAR}itle`) : (rest.shift() ?? text(ANSWER))),
  });
  home.useModel(llm, "display:\n  show_reasoning: true\n");
  writeFileSync(join(home.path, `a${CLEAR}${CLIPBOARD}.txt`.replaceAll("/", "_")), "x");
});

afterEach(async () => {
  terminal?.kill();
  await llm.close();
  home.remove();
});

/** The conversation screen moves the cursor itself. */
function expectSafe(raw: string, moves: readonly string[] = ["\u001b[1A"]): void {
  for (const bad of [CLIPBOARD, TITLE, "\u001b[2J", "\u001b[H", ...moves, "\u009b", "\u0007", "\u001b]"])
    expect(raw).not.toContain(bad);
}

describe("on a terminal, escape sequences of the model have no effect", () => {
  it.each([
    ["chat -q", ["chat", "-q", "hi"]],
    ["chat -Q -q", ["chat", "-Q", "-q", "hi"]],
    ["-z", ["-z", "hi"]],
    ["chat -q --json", ["chat", "-q", "hi", "--json"]],
  ])("by %s", async (_name, args) => {
    terminal = openTerminal(args, { home: home.path, columns: 200 });
    expect(await terminal.exited).toBe(0);
    if (!args.includes("--json")) expect(terminal.screen()).toContain(SHOWN);
    expectSafe(terminal.raw());
  });

  it("in the conversation, or when it is resumed", async () => {
    terminal = openTerminal([], { home: home.path, columns: 200 });
    await terminal.shows("❯");
    terminal.type("hi\r");
    await terminal.shows(SHOWN);
    await terminal.shows("second 👨\u200d👩\u200d👧 line");
    terminal.type("/history\r");
    await terminal.shows(/world[\s\S]*world/);
    terminal.type("\u0004");
    await terminal.exited;
    expectSafe(terminal.raw(), []);
    terminal = openTerminal(["-c"], { home: home.path, columns: 200 });
    await terminal.shows("Hello \\x1b]52;");
    await terminal.shows("tool call: no\\x1b[2J");
    expectSafe(terminal.raw(), []);
  });
});

it.each([
  ["chat -Q -q", ["chat", "-Q", "-q", "hi"]],
  ["-z", ["-z", "hi"]],
  ["chat -q", ["chat", "-q", "hi"]],
])("a pipe gets the bytes of the answer as they are (%s)", async (_name, args) => {
  const { stdout } = await runHermes(args, { home: home.path });
  expect(stdout).toBe(`${ANSWER}\n`);
});
