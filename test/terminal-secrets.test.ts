// Secrets entered during a conversation in a real terminal: they are stored in their file only.
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type ChatOptions, heldReply, openChat, type ScriptedReply, type TerminalChat } from "./kit/terminal-chat.ts";
import { calls, text } from "./servers/fake-llm.ts";

const SECRET = "canary-5f3a9c27-not-for-anybody";

let chat: TerminalChat | undefined;

afterEach(async () => {
  await chat?.close();
  chat = undefined;
});

function addSkill(home: string): void {
  const folder = join(home, "skills/own/gifs");
  mkdirSync(folder, { recursive: true });
  const needs = "required_environment_variables:\n  - name: TENOR_KEY\n    prompt: Key\n";
  writeFileSync(join(folder, "SKILL.md"), `---\nname: gifs\ndescription: Finds pictures\n${needs}---\n\nFind one.\n`);
}

async function start(script: readonly ScriptedReply[], options: ChatOptions = {}): Promise<TerminalChat> {
  chat = await openChat(script, { plain: true, prepare: addSkill, ...options });
  return chat;
}

function readFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/** Leaves, then looks everywhere: the screen, the requests, every file of the home but `.env`. */
async function nowhereElse(open: TerminalChat): Promise<void> {
  open.screen.type("\u0004");
  expect(await open.screen.exited).toBe(0);
  expect(open.screen.raw()).not.toContain(SECRET);
  for (const request of open.llm.requests) expect(request.raw.toString()).not.toContain(SECRET);
  const holding = readFiles(open.home.path).filter((path) => readFileSync(path).includes(SECRET));
  expect(holding.filter((path) => path !== join(open.home.path, ".env"))).toEqual([]);
}

const view = calls([{ name: "skill_view", args: { name: "gifs" } }]);
const readEnv = (open: TerminalChat) => {
  const file = join(open.home.path, ".env");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};

describe("a secret of a skill", () => {
  it("is read without echo, and the draft typed before it is restored", async () => {
    const reply = heldReply(view);
    const open = await start([reply.promise, text("Ready."), text("Next.")]);
    open.screen.type("use gifs\r");
    await open.llm.arrived(1);
    open.screen.type("and then");
    reply.release();
    await open.screen.shows("Key (empty to skip):");
    open.screen.type(`${SECRET}\r`);
    await open.screen.shows(/Ready\.\n❯ and then$/);
    expect(readEnv(open)).toContain(`TENOR_KEY=${SECRET}\n`);
    open.screen.type(" this\r");
    await open.screen.shows("Next.");
    expect(open.userTexts()).toEqual(["use gifs", "and then this"]);
    expect(readFileSync(join(open.home.path, ".hermes_history"), "utf8")).toBe("use gifs\nand then this\n");
    await nowhereElse(open);
  });

  it("is typed key by key, with corrections, and more text right after it is a message", async () => {
    const open = await start([view, text("Ready."), text("Next.")]);
    open.screen.type("use gifs\r");
    await open.screen.shows("Key (empty to skip):");
    for (const key of `wrong\u0015${SECRET}xy\u007f`) open.screen.type(key);
    open.screen.type("\u001b[D");
    open.screen.type("\u007f");
    open.screen.type("\r");
    await open.screen.shows("Ready.");
    expect(readEnv(open)).toContain(`TENOR_KEY=${SECRET}\n`);
    open.screen.type("more\r");
    await open.screen.shows("Next.");
    expect(open.userTexts()).toEqual(["use gifs", "more"]);
    await nowhereElse(open);
  });

  it("may be pasted as one line; several lines are rejected", async () => {
    const open = await start([view, text("Ready.")]);
    open.screen.type("use gifs\r");
    await open.screen.shows("Key (empty to skip):");
    open.screen.type(`\u001b[200~${SECRET}\ro\ryes\r\u001b[201~`);
    await open.screen.shows("the pasted text has more than one line and was ignored");
    open.screen.type(`\u001b[200~${SECRET}\r\u001b[201~\r`);
    await open.screen.shows(/Ready\.\n❯$/);
    expect(readEnv(open)).toContain(`TENOR_KEY=${SECRET}\n`);
    await nowhereElse(open);
  });

  it.each([
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
  ])("is given up with %s, and the conversation goes on", async (_name, key) => {
    const open = await start([view, text("Ready."), text("Next.")]);
    open.screen.type("use gifs\r");
    await open.screen.shows("Key (empty to skip):");
    open.screen.type(SECRET);
    open.screen.type(key);
    await open.screen.shows(/Ready\.\n❯$/);
    expect(readEnv(open)).toBe("");
    open.screen.type("there?\r");
    await open.screen.shows("Next.");
    await nowhereElse(open);
  });
});

describe("with standard output in a pipe", () => {
  it("a secret is not shown either, and the draft is kept", async () => {
    const reply = heldReply(view);
    const open = await start([reply.promise, text("Ready."), text("Next.")], { pipedOutput: true });
    open.screen.type("use gifs\r");
    await open.llm.arrived(1);
    open.screen.type("and then");
    await open.screen.shows("and then");
    reply.release();
    await open.screen.shows("Key (empty to skip):");
    open.screen.type(`${SECRET}\r`);
    await open.screen.shows("Ready.");
    expect(readEnv(open)).toContain(`TENOR_KEY=${SECRET}\n`);
    open.screen.type(" this\r");
    await open.screen.shows("Next.");
    expect(open.userTexts()).toEqual(["use gifs", "and then this"]);
    await nowhereElse(open);
  });
});

describe("a password for sudo", () => {
  /** A sudo that wants a password and says only how long it was. */
  function addSudo(home: string): void {
    mkdirSync(join(home, "bin"));
    const script = '#!/bin/sh\ncase "$1" in -n*) exit 1;; esac\nread -r word\nprintf %s "$word" | wc -c\n';
    writeFileSync(join(home, "bin/sudo"), script);
    chmodSync(join(home, "bin/sudo"), 0o755);
  }

  it("is read without echo and reaches sudo only", async () => {
    const run = calls([{ name: "terminal", args: { command: "sudo true" } }]);
    const open = await start([run, text("Ready."), text("Next.")], {
      prepare: addSudo,
      config: "approvals:\n  mode: 'off'\n",
      pathFirst: "bin",
    });
    open.screen.type("go\r");
    await open.screen.shows("Password for sudo");
    open.screen.type(`${SECRET}\r`);
    await open.screen.shows("Ready.");
    const results = open.llm.requests.flatMap((request) => request.messages.filter(({ role }) => role === "tool"));
    expect(results[0]?.text).toContain(String(SECRET.length));
    open.screen.type("more\r");
    await open.screen.shows("Next.");
    expect(open.userTexts()).toEqual(["go", "more"]);
    await nowhereElse(open);
  });
});
