// Quick commands: slash commands of the configuration that run a shell command, or are aliases of another command.

import type { SlashCommand } from "../core/chat/command.ts";
import type { Config } from "../core/config/config.ts";
import { runToEnd } from "../lib/process/run-to-end.ts";
import { chatCommand, text } from "./builtin-command.ts";

const LIMIT_MS = 30_000;
const MAX_CHARS = 3_500;

interface QuickCommand {
  readonly type: string;
  readonly command: string;
  readonly target: string;
}

export interface ShellContext {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** The text without secrets. */
  redact(text: string): string;
}

/** The output without secrets; how the command ended when it printed nothing. */
async function runShell(command: string, { cwd, env, redact }: ShellContext): Promise<string> {
  const run = await runToEnd(["/bin/sh", "-c", command], { cwd, env, timeoutMs: LIMIT_MS });
  const output = redact([run.stdout.trim(), run.stderr.trim()].filter((part) => part !== "").join("\n"));
  const end = run.timedOut
    ? `(stopped after ${LIMIT_MS / 1000} seconds)`
    : run.code === 0
      ? ""
      : `(exit code ${run.code ?? "none"})`;
  const shown = output.length > MAX_CHARS ? `${output.slice(0, MAX_CHARS)}…` : output;
  return [shown, end].filter((part) => part !== "").join("\n") || "(done; no output)";
}

/** An alias of another command: its `target` may have arguments. */
export interface CommandAlias {
  readonly name: string;
  readonly target: string;
}

export interface QuickCommands {
  readonly commands: readonly SlashCommand[];
  readonly aliases: readonly CommandAlias[];
}

/** The configuration's commands. They run without a model, at most 30 seconds, and never see or show secrets. */
export function quickCommands(config: Config["quick_commands"], shell: () => ShellContext): QuickCommands {
  const given = Object.entries(config as { readonly [name: string]: QuickCommand | undefined });
  return {
    commands: given.flatMap(([name, quick]) =>
      quick?.type === "exec" && quick.command
        ? [
            chatCommand({
              name,
              group: "Program",
              summary: `Runs ${quick.command}`,
              ownerOnly: false,
              runInChat: async () => text(await runShell(quick.command, shell())),
            }),
          ]
        : [],
    ),
    aliases: given.flatMap(([name, quick]) =>
      quick?.type === "alias" && quick.target ? [{ name, target: quick.target.replace(/^\//, "") }] : [],
    ),
  };
}
