import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { commandEnvironment } from "../src/app/command-environment.ts";
import { openHookActions } from "../src/app/plugin-actions.ts";
import { openSettings } from "../src/config/api.ts";
import { openHome } from "../src/home/api.ts";
import { HookRunner } from "../src/plugins/hooks/hook-runner.ts";
import { openShellHooks } from "../src/plugins/hooks/open-hooks.ts";
import {
  matches,
  parseHookAnswer,
  readShellHooks,
  runShellHook,
  splitCommand,
} from "../src/plugins/hooks/shell-hook.ts";
import { tempDir } from "./kit/temp-dir.ts";

const PATH = "/usr/local/bin:/usr/bin:/bin";
let folder: string;

beforeEach(() => {
  folder = tempDir("hermes-hooks-");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function script(name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

function homeWith(config: object, env: { [name: string]: string } = {}) {
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(config));
  const host = {
    env: { PATH, HERMES_HOME: folder, HOME: folder, ...env },
    cwd: folder,
    platform: "linux",
    homedir: folder,
  };
  return openHome([], host).home;
}

async function open(config: object, env: { [name: string]: string } = {}, consent?: () => Promise<boolean>) {
  const home = homeWith(config, env);
  const notices: string[] = [];
  const notice = (text: string) => void notices.push(text);
  const runner = new HookRunner({ notice });
  const settings = (await openSettings(home).load()).config;
  const options = { accept: false, notice, consent, env: commandEnvironment(home, settings) };
  for (const source of await openShellHooks(home, settings, options)) runner.add(source);
  return { runner, notices, home };
}

it("splits commands into words like a shell, without expansion", () => {
  expect(splitCommand(`a 'b c' "d \\"e" f\\ g $HOME;rm`)).toEqual(["a", "b c", 'd "e', "f g", "$HOME;rm"]);
  expect(splitCommand("~/bin/x ~", "/home/me")).toEqual(["/home/me/bin/x", "~"]);
});

it("reports invalid configuration", () => {
  const { hooks, problems } = readShellHooks({
    pre_tol_call: [{ command: "x" }],
    post_tool_call: [{ timeout: 5 }, { command: "y", timeout: 900 }],
  });
  expect(hooks).toEqual([{ event: "post_tool_call", command: "y", timeoutMs: 300_000 }]);
  expect(problems.join("\n")).toContain("did you mean pre_tool_call?");
  expect(problems.join("\n")).toContain("has no command");
  expect(problems.join("\n")).toContain("900 is not between 1 and 300");
});

it("matches whole tool names, and compares an invalid pattern as a name", () => {
  const hook = (matcher: string) => ({ event: "pre_tool_call" as const, command: "x", matcher, timeoutMs: 1 });
  expect(matches(hook("read|write_.*"), "write_file")).toBe(true);
  expect(matches(hook("write"), "write_file")).toBe(false);
  expect(matches(hook("a(b"), "a(b")).toBe(true);
});

it("passes the event and blocks on the answer", async () => {
  const command = script("guard.sh", `cat > ${folder}/seen.json; echo '{"decision":"block","reason":"not today"}'`);
  const config = { hooks: { pre_tool_call: [{ command, matcher: "terminal" }] }, hooks_auto_accept: true };
  const { runner } = await open(config, { OPENAI_API_KEY: "sk-hidden-1234567890" });
  const args = { tool_name: "terminal", args: { command: "ls" }, session_id: "s1", tool_call_id: "c1" };
  expect(await runner.run("pre_tool_call", args)).toEqual([{ action: "block", message: "not today" }]);
  expect(JSON.parse(readFileSync(join(folder, "seen.json"), "utf8"))).toEqual({
    hook_event_name: "pre_tool_call",
    tool_name: "terminal",
    tool_input: { command: "ls" },
    session_id: "s1",
    cwd: folder,
    extra: { tool_call_id: "c1" },
  });
  expect(await runner.run("pre_tool_call", { ...args, tool_name: "read_file" })).toEqual([]);
});

it("does not show keys to the program", async () => {
  const command = script("env.sh", `env > ${folder}/env.txt`);
  const { runner } = await open(
    { hooks: { post_llm_call: [{ command }] }, hooks_auto_accept: true },
    { OPENAI_API_KEY: "sk-hidden-1234567890" },
  );
  await runner.run("post_llm_call", {});
  expect(readFileSync(join(folder, "env.txt"), "utf8")).not.toContain("sk-hidden");
});

it("blocks with exit code 2 and the text on standard error", async () => {
  const hook = { event: "pre_tool_call" as const, command: script("no.sh", "echo never >&2; exit 2"), timeoutMs: 5000 };
  const run = await runShellHook(hook, {}, { cwd: folder, env: { PATH } });
  expect(parseHookAnswer(hook, run)).toEqual({ action: "block", message: "never" });
});

it("ends a program that hangs, with everything it started", async () => {
  const command = script("hang.sh", `(sleep 60; touch ${folder}/survived) & sleep 60`);
  const { runner, notices } = await open({
    hooks: { pre_llm_call: [{ command, timeout: 1 }] },
    hooks_auto_accept: true,
  });
  expect(await runner.run("pre_llm_call", {})).toEqual([]);
  expect(notices.join()).toContain("did not end within 1 s and was stopped");
});

it("adds context, and reports a missing program and broken JSON", async () => {
  const good = script("good.sh", `echo '{"context":"it rains"}'`);
  const bad = script("bad.sh", "echo '{broken'");
  const hooks = { pre_llm_call: [{ command: good }, { command: bad }, { command: "no-such-program-here" }] };
  const { runner, notices } = await open({ hooks, hooks_auto_accept: true });
  expect(await runner.run("pre_llm_call", {})).toEqual([{ context: "it rains" }]);
  expect(notices.join("\n")).toContain("its answer is not valid JSON");
  expect(notices.join("\n")).toContain("the command was not found");
});

it("runs only approved hooks, and stores the approval", async () => {
  const command = script("asked.sh", `touch ${folder}/ran`);
  const config = { hooks: { on_session_start: [{ command }] } };
  const without = await open(config);
  await without.runner.run("on_session_start", {});
  expect(existsSync(join(folder, "ran"))).toBe(false);
  expect(without.notices.join()).toContain("1 shell hook is not approved");
  await open(config, {}, async () => true);
  const { runner, home } = await open(config);
  await runner.run("on_session_start", {});
  expect(existsSync(join(folder, "ran"))).toBe(true);
  const { approvals } = JSON.parse(readFileSync(join(folder, "shell-hooks-allowlist.json"), "utf8"));
  expect(approvals).toMatchObject([
    { event: "on_session_start", command, script_mtime_at_approval: expect.any(String) },
  ]);
  expect(await openHookActions(home).revoke(command)).toBe(1);
  expect((await open(config)).runner.listens("on_session_start")).toBe(false);
});

it("accepts all by variable, without writing an approval", async () => {
  const command = script("free.sh", "true");
  const { runner } = await open({ hooks: { on_session_start: [{ command }] } }, { HERMES_ACCEPT_HOOKS: "1" });
  expect(runner.listens("on_session_start")).toBe(true);
  expect(existsSync(join(folder, "shell-hooks-allowlist.json"))).toBe(false);
});

it("tests hooks and reports their problems", async () => {
  const good = script("good.sh", `echo '{"action":"block","message":"no"}'`);
  const dull = script("dull.sh", "true");
  chmodSync(dull, 0o644);
  const home = homeWith({ hooks: { pre_tool_call: [{ command: good }, { command: dull }] }, hooks_auto_accept: true });
  const actions = openHookActions(home);
  const trials = await actions.test("pre_tool_call", { tool: "terminal" });
  expect(trials[0]).toMatchObject({ code: 0, answer: { action: "block", message: "no" } });
  const { checks } = await actions.doctor();
  expect(checks[0]?.problems).toEqual([]);
  expect(checks[1]?.problems.join()).toContain("is not executable");
  await expect(actions.test("pre_tool_cal", {})).rejects.toThrow('did you mean "pre_tool_call"?');
});
