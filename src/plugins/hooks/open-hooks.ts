// Opens the approved shell hooks as sources for the hook runner; asks about new ones where a user can answer.
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
/** Time to stop a program that reached its own limit. */
const STOP_MS = 3_000;

export interface ShellHookOptions {
  /** `--accept-hooks`. */
  readonly accept: boolean;
  /** Asks the user; absent where there is none. */
  readonly consent?: ((hook: { readonly event: string; readonly command: string }) => Promise<boolean>) | undefined;
  /** The environment of the programs, without secrets. */
  readonly env: { readonly [name: string]: string };
  notice(text: string): void;
}

export function acceptsAll(home: Home, config: Config, flag: boolean): boolean {
  return flag || config.hooks_auto_accept || TRUE.test(home.env.HERMES_ACCEPT_HOOKS ?? "");
}

async function approvedHooks(home: Home, hooks: readonly ShellHook[], options: ShellHookOptions): Promise<ShellHook[]> {
  const approvals = await readApprovals(home);
  const usable: ShellHook[] = [];
  let skipped = 0;
  for (const hook of hooks) {
    if (isApproved(approvals, hook)) usable.push(hook);
    else if (await options.consent?.(hook)) {
      await approve(home, hook);
      usable.push(hook);
    } else skipped += 1;
  }
  if (skipped > 0) {
    const many = skipped === 1 ? "1 shell hook is" : `${skipped} shell hooks are`;
    options.notice(`${many} not approved and will not run. See: hermes hooks list`);
  }
  return usable;
}

function createSource(hook: ShellHook, where: HookEnvironment): HookSource {
  const callback = async (args: JsonObject) => {
    if (!matches(hook, args.tool_name)) return undefined;
    const run = await runShellHook(hook, hookPayload(hook.event, args, where.cwd), where);
    const failure = describeHookError(hook, run);
    if (failure) throw new Error(failure);
    return parseHookAnswer(hook, run);
  };
  const listeners = [{ callback, timeoutMs: hook.timeoutMs + STOP_MS }];
  return { owner: `shell hook "${hook.command}"`, names: [hook.event], listeners: async () => listeners };
}

export async function openShellHooks(home: Home, config: Config, options: ShellHookOptions): Promise<HookSource[]> {
  const { hooks, problems } = readShellHooks(config.hooks as { readonly [event: string]: unknown });
  for (const problem of problems) options.notice(problem);
  if (hooks.length === 0) return [];
  const usable = acceptsAll(home, config, options.accept) ? hooks : await approvedHooks(home, hooks, options);
  const where = { cwd: home.cwd, env: options.env };
  return usable.map((hook) => createSource(hook, where));
}
