// What `hermes hooks` does: list, test, approve, revoke and check shell hooks.
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { Config } from "../../core/config/config.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import { HOOK_NAMES, type HookName } from "../../core/hook.ts";
import type { Json, JsonObject } from "../../core/message.ts";
import type { Settings } from "../../core/settings.ts";
import { nearest } from "../../lib/nearest.ts";
import type { PluginRow } from "../plugin-rows.ts";
import { type Approval, approve, isApproved, readApprovals, revoke, scriptTime } from "./consent.ts";
import { acceptsAll } from "./open-hooks.ts";
import {
  describeHookError,
  type HookEnvironment,
  hookPayload,
  matches,
  parseHookAnswer,
  readShellHooks,
  runShellHook,
  type ShellHook,
  splitCommand,
} from "./shell-hook.ts";

export interface ShellHookRow {
  readonly event: HookName;
  readonly command: string;
  readonly matcher: string | null;
  readonly timeoutSeconds: number;
  /** `approved`, `accepted` by a setting, or `not approved`. */
  readonly consent: "approved" | "accepted" | "not approved";
  /** The script was changed after it was approved. */
  readonly changed: boolean;
}

export interface HookListing {
  readonly shell: readonly ShellHookRow[];
  readonly plugins: readonly { readonly plugin: string; readonly hooks: readonly string[] }[];
  readonly problems: readonly string[];
}

export interface HookTrial {
  readonly command: string;
  readonly matched: boolean;
  readonly code?: number | null | undefined;
  readonly ms?: number | undefined;
  readonly answer?: Json | undefined;
  readonly failure?: string | undefined;
  readonly stderr?: string | undefined;
}

export interface HookCheck {
  readonly event: string;
  readonly command: string;
  readonly problems: readonly string[];
}

export interface HookActions {
  list(): Promise<HookListing>;
  /** Runs the hooks of an event with a sample or given payload, whether approved or not. */
  test(
    event: string,
    options: { tool?: string | undefined; payload?: JsonObject | undefined },
  ): Promise<readonly HookTrial[]>;
  approve(command: string | undefined): Promise<number>;
  revoke(command: string): Promise<number>;
  doctor(): Promise<{ readonly checks: readonly HookCheck[]; readonly problems: readonly string[] }>;
}

/** What the actions need from the program. */
export interface HookActionsDeps {
  readonly home: Home;
  readonly settings: Pick<Settings, "load">;
  /** The environment of the programs, without secrets. */
  commandEnvironment(config: Config): { readonly [name: string]: string };
  plugins(): Promise<readonly PluginRow[]>;
}

/** Arguments like those of a real event, so that a script can be tested without a conversation. */
function sampleArgs(event: HookName, tool: string): JsonObject {
  const session = { session_id: "test-session", platform: "cli", model: "test-model" };
  const call = { tool_name: tool, args: {}, session_id: "test-session", task_id: "test", tool_call_id: "call_test" };
  if (event === "pre_tool_call") return call;
  if (event === "post_tool_call" || event === "transform_tool_result") return { ...call, result: "ok", duration_ms: 1 };
  if (event === "transform_terminal_output")
    return { command: "true", output: "", returncode: 0, task_id: "test", env_type: "local" };
  if (event === "subagent_stop")
    return {
      parent_session_id: "test-session",
      child_role: "leaf",
      child_summary: "done",
      child_status: "completed",
      duration_ms: 1,
    };
  return { ...session, user_message: "hello" };
}

function parseEvent(text: string): HookName {
  const event = HOOK_NAMES.find((name) => name === text);
  if (event) return event;
  const guess = nearest(text, HOOK_NAMES);
  throw new UserError(`there is no event "${text}"${guess ? `; did you mean "${guess}"?` : ""}`, {
    hint: `Events: ${HOOK_NAMES.join(", ")}`,
    exitCode: 2,
  });
}

function changedSinceApproval(hook: ShellHook, approvals: readonly Approval[], home: Home): boolean {
  const entry = approvals.find((known) => known.event === hook.event && known.command === hook.command);
  if (!entry?.script_mtime_at_approval) return false;
  const at = scriptTime(hook.command, home);
  return at !== null && Date.parse(at) > Date.parse(entry.script_mtime_at_approval);
}

/** Why the program of a command cannot be run. */
function programProblem(command: string, home: Home): string | undefined {
  const [program = ""] = splitCommand(command, home.env.HOME);
  const runnable = (path: string) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  };
  if (program.includes("/")) {
    const path = resolve(home.cwd, program);
    if (!existsSync(path)) return `${program} does not exist`;
    return runnable(path) ? undefined : `${program} is not executable; run: chmod +x ${path}`;
  }
  const found = (home.env.PATH ?? "").split(delimiter).some((folder) => runnable(join(folder, program)));
  return found ? undefined : `${program} is not on PATH`;
}

interface LoadedHooks {
  readonly config: Config;
  readonly hooks: readonly ShellHook[];
  readonly problems: readonly string[];
}

async function load({ settings }: HookActionsDeps): Promise<LoadedHooks> {
  const { config } = await settings.load();
  return { config, ...readShellHooks(config.hooks as { readonly [event: string]: unknown }) };
}

async function tryHook(where: HookEnvironment, hook: ShellHook, args: JsonObject): Promise<HookTrial> {
  if (!matches(hook, args.tool_name)) return { command: hook.command, matched: false };
  const run = await runShellHook(hook, hookPayload(hook.event, args, where.cwd), where);
  const failure = describeHookError(hook, run);
  return {
    command: hook.command,
    matched: true,
    code: run.code,
    ms: run.ms,
    answer: failure ? undefined : parseHookAnswer(hook, run),
    failure: failure || undefined,
    stderr: run.stderr || undefined,
  };
}

async function listHooks(deps: HookActionsDeps): Promise<HookListing> {
  const { home } = deps;
  const [{ config, hooks, problems }, approvals, rows] = await Promise.all([
    load(deps),
    readApprovals(home),
    deps.plugins(),
  ]);
  const accepted = acceptsAll(home, config, false);
  return {
    shell: hooks.map((hook) => ({
      event: hook.event,
      command: hook.command,
      matcher: hook.matcher ?? null,
      timeoutSeconds: hook.timeoutMs / 1000,
      consent: isApproved(approvals, hook) ? "approved" : accepted ? "accepted" : "not approved",
      changed: changedSinceApproval(hook, approvals, home),
    })),
    plugins: rows
      .filter((row) => row.status === "enabled" || row.status === "selected")
      .map((row) => ({ plugin: row.key, hooks: row.registrations?.hooks ?? row.provides.hooks ?? [] }))
      .filter((row) => row.hooks.length > 0),
    problems,
  };
}

async function checkHooks(deps: HookActionsDeps): Promise<{ checks: HookCheck[]; problems: readonly string[] }> {
  const { home } = deps;
  const { config, hooks, problems } = await load(deps);
  const { shell } = await listHooks(deps);
  const where = { cwd: home.cwd, env: deps.commandEnvironment(config) };
  const checks: HookCheck[] = [];
  for (const [index, hook] of hooks.entries()) {
    const row = shell[index];
    const found: string[] = [];
    const program = programProblem(hook.command, home);
    if (program) found.push(program);
    if (row?.consent === "not approved") found.push("not approved, so it does not run");
    if (row?.changed) found.push("its script was changed after it was approved");
    if (!program && row?.consent !== "not approved") {
      const trial = await tryHook(where, hook, sampleArgs(hook.event, hook.matcher ?? "terminal"));
      if (trial.failure) found.push(trial.failure);
    }
    checks.push({ event: hook.event, command: hook.command, problems: found });
  }
  return { checks, problems };
}

export function createHookActions(deps: HookActionsDeps): HookActions {
  const { home } = deps;
  return {
    list: () => listHooks(deps),
    test: async (name, options) => {
      const event = parseEvent(name);
      const { config, hooks } = await load(deps);
      const where = { cwd: home.cwd, env: deps.commandEnvironment(config) };
      const args = { ...sampleArgs(event, options.tool ?? "terminal"), ...options.payload };
      const trials: HookTrial[] = [];
      for (const hook of hooks) if (hook.event === event) trials.push(await tryHook(where, hook, args));
      return trials;
    },
    approve: async (command) => {
      const { hooks } = await load(deps);
      const matching = hooks.filter((hook) => command === undefined || hook.command === command);
      if (matching.length === 0)
        throw new UserError(command ? `no hook has the command "${command}"` : "config.yaml has no shell hooks", {
          hint: "See: hermes hooks list",
        });
      for (const hook of matching) await approve(home, hook);
      return matching.length;
    },
    revoke: (command) => revoke(home, command),
    doctor: () => checkHooks(deps),
  };
}
