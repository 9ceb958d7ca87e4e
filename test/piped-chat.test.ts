// A conversation with piped input: one message per line, and lines that were sent before a question do not answer it.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { workspaceEnv } from "./kit/home-workspace.ts";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { calls, drip, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";
import type { Reply } from "./servers/fake-llm-replies.ts";

let home: TempHome;
let llm: FakeLlm;
let replies: Reply[];
let child: ChildProcessWithoutNullStreams | undefined;

beforeEach(async () => {
  home = tempHome();
  replies = [];
  llm = await startFakeLlm({
    script: (request) => (request.tools.length === 0 ? text("A title") : (replies.shift() ?? text("Fine."))),
  });
  home.useModel(llm);
  mkdirSync(join(home.path, "data"));
});

afterEach(async () => {
  child?.kill("SIGKILL");
  await llm.close();
  home.remove();
});

const run = () => calls([{ name: "terminal", args: { command: "rm -rf data" } }]);
const kept = () => existsSync(join(home.path, "data"));
const userTexts = () =>
  (llm.requests.filter((request) => request.tools.length > 0).at(-1)?.messages ?? [])
    .filter((message) => message.role === "user")
    .map((message) => message.text);

function open() {
  const env = {
    ...workspaceEnv(home.path, home.path),
    PATH: process.env.PATH ?? "",
    HOME: home.path,
    HERMES_HOME: home.path,
  };
  const started = spawn(process.execPath, [hermesProgram()], { cwd: home.path, env });
  child = started;
  let output = "";
  const waiting = new Set<() => void>();
  const add = (chunk: Buffer) => {
    output += chunk.toString();
    for (const look of waiting) look();
  };
  started.stdout.on("data", add);
  started.stderr.on("data", add);
  const exited = new Promise<number | null>((resolve) => started.on("close", resolve));
  const shows = (wanted: RegExp) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!wanted.test(output)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return {
    type: (input: string) => started.stdin.write(input),
    end: () => started.stdin.end(),
    shows,
    exited,
    output: () => output,
  };
}

it("takes each line in its order as a message, without stopping the one before", async () => {
  const messages = Array.from({ length: 12 }, (_, at) => `message ${at + 1}`);
  replies = [drip("slow ".repeat(100), { everyMs: 300 })];
  const chat = open();
  chat.type(`${messages[0]}\n`);
  await chat.shows(/slow slow/);
  chat.type(messages.slice(1).join("\r\n"));
  chat.end();
  expect(await chat.exited).toBe(0);
  expect(chat.output()).not.toMatch(/your message is next|interrupted/);
  expect(userTexts()).toEqual(messages);
});

describe("an approval", () => {
  it("is not given by lines that were there before the question; they are the next messages", async () => {
    replies = [run(), text("Left alone.")];
    const { code, stdout, stderr } = await runHermes([], { home: home.path, stdin: "clean up\no\nyes\na\n" });
    expect(code).toBe(0);
    expect(stderr).toContain("needs your approval");
    expect(stderr).toContain("no answer: denied");
    expect(stdout).toContain("Left alone.");
    expect(userTexts()).toEqual(["clean up", "o", "yes", "a"]);
    expect(kept()).toBe(true);
  });

  it("is not given by a line that began before the question", async () => {
    replies = [run(), text("Left alone.")];
    const chat = open();
    chat.type("clean up\no");
    await chat.shows(/\[d\]eny\?/);
    chat.type("\nd\n");
    await chat.shows(/Left alone\./);
    chat.end();
    expect(await chat.exited).toBe(0);
    expect(userTexts()).toEqual(["clean up", "o"]);
    expect(kept()).toBe(true);
  });

  it("is given by a line that comes after the question, and only by a whole choice", async () => {
    replies = [run(), text("Gone.")];
    const chat = open();
    chat.type("clean up\n");
    await chat.shows(/\[d\]eny\?/);
    chat.type("oh no\n");
    await chat.shows(/"oh no" is not one of the choices[\s\S]*\[d\]eny\?/);
    expect(kept()).toBe(true);
    chat.type("once\n");
    await chat.shows(/Gone\./);
    chat.end();
    expect(await chat.exited).toBe(0);
    expect(kept()).toBe(false);
  });

  it("is refused at the end of input", async () => {
    replies = [run(), text("Left alone.")];
    const chat = open();
    chat.type("clean up\n");
    await chat.shows(/\[d\]eny\?/);
    chat.end();
    expect(await chat.exited).toBe(0);
    expect(chat.output()).toContain("Left alone.");
    expect(kept()).toBe(true);
  });

  it("is refused when the input never ends", async () => {
    replies = [run(), text("Left alone."), text("x")];
    const chat = open();
    const flood = "o\n".repeat(50_000);
    chat.type("clean up\n");
    const pour = () => {
      while (child?.exitCode === null && chat.type(flood));
    };
    child?.stdin.on("drain", pour);
    child?.stdin.on("error", () => undefined);
    pour();
    await chat.shows(/no answer: denied/);
    expect(kept()).toBe(true);
  });
});
