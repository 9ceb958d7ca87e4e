// A memory provider is shut down once at the end of each conversation, for every kind of end.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { openTerminal } from "./kit/terminal.ts";
import { type FakeLlm, hang, startFakeLlm, text } from "./servers/fake-llm.ts";
import type { Reply } from "./servers/fake-llm-replies.ts";

let home: TempHome;
let llm: FakeLlm;
let reply: () => Reply;

const DIARY = (log: string, slow: boolean) => `import { appendFileSync } from "node:fs";
const say = (line) => appendFileSync(${JSON.stringify(log)}, line + "\\n");
export function register(ctx) {
  ctx.registerMemoryProvider(() => ({
    name: "diary",
    initialize: async (init) => say("open " + (init.sessionId ?? init.session_id)),
    onSessionEnd: async () => say("end"),
    shutdown: async () => { say("shutdown"); ${slow ? "await new Promise(() => setTimeout(() => {}, 1e9));" : ""} },
  }), "diary");
}
`;

function install(slow = false): void {
  const dir = join(home.path, "plugins", "diary");
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "plugin.yaml"), JSON.stringify({ name: "diary", api: 1, kind: "memory" }));
  writeFileSync(join(dir, "index.js"), DIARY(join(home.path, "log"), slow));
  home.useModel(llm, "memory:\n  provider: diary\nplugins:\n  enabled: [diary]\n");
}

const log = (): string[] => {
  const path = join(home.path, "log");
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
};
const kinds = () => log().map((line) => line.split(" ")[0]);

beforeEach(async () => {
  home = tempHome();
  reply = () => text("Noted.");
  llm = await startFakeLlm({ script: (request) => (request.tools.length > 0 ? reply() : text("A title")) });
  install();
});

afterEach(async () => {
  await llm.close();
  home.remove();
});

it("at the end of a one-shot, and it knows the session from the start", async () => {
  const run = await runHermes(["-q", "Hello", "--quiet"], { home: home.path });
  expect(run.code).toBe(0);
  expect(kinds()).toEqual(["open", "end", "shutdown"]);
  const session = /session_id: (\S+)/.exec(run.stderr)?.[1];
  expect(log()[0]).toBe(`open ${session}`);
});

it.each(["SIGTERM", "SIGINT"] as const)("when %s ends a turn", async (signal) => {
  reply = () => hang("after_text", "Let me");
  const env = { PATH: process.env.PATH ?? "", HOME: home.path, HERMES_HOME: home.path };
  const child = spawn(process.execPath, [hermesProgram(), "-z", "Hello"], { env, stdio: "ignore" });
  await llm.arrived(1);
  child.kill(signal);
  const [code] = await once(child, "exit");
  expect(code).toBe(130);
  expect(kinds()).toEqual(["open", "end", "shutdown"]);
});

it("a provider that never finishes does not keep the program running", async () => {
  install(true);
  const run = await runHermes(["-z", "Hello"], { home: home.path });
  expect(run).toMatchObject({ code: 0, stdout: "Noted.\n" });
  expect(kinds()).toEqual(["open", "end", "shutdown"]);
}, 30_000);

it("for each conversation of a terminal: /new, then the request to end", async () => {
  const terminal = openTerminal(["--plain"], { home: home.path });
  try {
    await terminal.shows("Ctrl-D");
    terminal.type("Hello\r");
    await terminal.shows("Noted.");
    terminal.type("/new\r");
    await terminal.shows("[d]eny?");
    terminal.type("once\r");
    await expect.poll(kinds, { timeout: 15_000 }).toEqual(["open", "end", "shutdown", "open"]);
    terminal.signal("SIGTERM");
    await expect.poll(kinds, { timeout: 15_000 }).toEqual(["open", "end", "shutdown", "open", "shutdown"]);
  } finally {
    terminal.kill();
  }
}, 45_000);
