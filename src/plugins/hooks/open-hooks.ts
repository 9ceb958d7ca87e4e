// Shell hooks as sources for the hook runner: those the person allowed, asked about first where somebody can answer.

import { commandEnvironment } from "../../app/command-environment.ts";
import type { Config } from "../../core/config/config.ts";
import type { Home } from "../../core/home.ts";
import type { JsonObject } from "../../core/message.ts";
import { approve, isApproved, readApprovals } from "./consent.ts";
import type { HookSource } from "./hook-runner.ts";
import {
  describeHookError,
  type HookEnvironment,
  hookPayload,
  matches,
  parseHookAnswer,
  readShellHooks,
  runShellHook,
  type ShellHook,
} from "./shell-hook.ts";

const TRUE = /^(1|true|yes|on)$/i;
/** The program is stopped at its own limit; this is for the stopping. */
const GRACE_MS = 3_000;

export interface ShellHookOptions {
  /** `--accept-hooks`. */
  readonly accept: boolean;
  /** Asks the person at this terminal; absent where nobody can answer. */
  readonly consent?: ((hook: { readonly event: string; readonly command: string }) => Promise<boolean>) | undefined;
  notice(text: string): void;
}

export function hooksEnvironment(home: Home, config: Config): HookEnvironment {
  return { cwd: home.cwd, env: commandEnvironment(home, config) };
}

export function acceptsAll(home: Home, config: Config, flag: boolean): boolean {
  return flag || config.hooks_auto_accept || TRUE.test(home.env.HERMES_ACCEPT_HOOKS ?? "");
}

async function allowed(home: Home, hooks: readonly ShellHook[], options: ShellHookOptions): Promise<ShellHook[]> {
  const approvals = await readApprovals(home);
  const usable: ShellHook[] = [];
  let refused = 0;
  for (const hook of hooks) {
    if (isApproved(approvals, hook)) usable.push(hook);
    else if (await options.consent?.(hook)) {
      await approve(home, hook);
      usable.push(hook);
    } else refused += 1;
  }
  if (refused > 0) {
    const many = refused === 1 ? "1 shell hook is" : `${refused} shell hooks are`;
    options.notice(`${many} not approved and will not run. See: hermes hooks list`);
  }
  return usable;
}

function sourceOf(hook: ShellHook, where: HookEnvironment): HookSource {
  const callback = async (args: JsonObject) => {
    if (!matches(hook, args.tool_name)) return undefined;
    const run = await runShellHook(hook, hookPayload(hook.event, args, where.cwd), where);
    const failure = describeHookError(hook, run);
    if (failure) throw new Error(failure);
    return parseHookAnswer(hook, run);
  };
  const listeners = [{ callback, timeoutMs: hook.timeoutMs + GRACE_MS }];
  return { owner: `shell hook "${hook.command}"`, names: [hook.event], listeners: async () => listeners };
}

export async function openShellHooks(home: Home, config: Config, options: ShellHookOptions): Promise<HookSource[]> {
  const { hooks, problems } = readShellHooks(config.hooks as { readonly [event: string]: unknown });
  for (const problem of problems) options.notice(problem);
  if (hooks.length === 0) return [];
  const usable = acceptsAll(home, config, options.accept) ? hooks : await allowed(home, hooks, options);
  const where = hooksEnvironment(home, config);
  return usable.map((hook) => sourceOf(hook, where));
}
