// Slash commands about work in progress: agents, background, stop.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { oneLine } from "../lib/text/one-line.ts";
import { type BuiltinCommand, text } from "./builtin-command.ts";
import type { CommandDeps } from "./command-deps.ts";
import { age, plural } from "./format.ts";

function agents(deps: CommandDeps, context: CommandContext): CommandAnswer {
  const { conversation, busy, opened } = context;
  const processes = deps.processes.list(conversation.conversationId);
  const tasks = context.tasks?.() ?? [];
  const lines = [
    busy ? `A turn of this conversation runs with ${opened.identity.model}.` : "",
    ...(tasks.length > 0 ? ["Tasks in the background", ...tasks.map((task) => `  ${task}`)] : []),
    ...(processes.length > 0
      ? [
          "Background processes",
          ...processes.map(
            ({ id, command, startedAt }) => `  ${id}  ${age((Date.now() - startedAt) / 1000)}  ${oneLine(command, 80)}`,
          ),
          "/stop ends them.",
        ]
      : []),
  ].filter((line) => line !== "");
  return text(lines.length > 0 ? lines.join("\n") : "Nothing is running.");
}

/** Interrupts the turn; when none runs, ends the background processes. */
async function stop(deps: CommandDeps, { busy, conversation }: CommandContext): Promise<CommandAnswer> {
  if (busy) {
    conversation.interrupt();
    return text("Stopping.");
  }
  const ended = await deps.processes.stop(conversation.conversationId);
  return text(
    ended > 0
      ? `Ended ${plural(ended, "background process").replace("processs", "processes")}.`
      : "Nothing is running.",
  );
}

export function taskCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    {
      name: "agents",
      aliases: ["tasks"],
      group: "Conversation",
      summary: "What is running: turn, tasks, processes",
      whileBusy: true,
      ownerOnly: false,
      run: async (_, context) => agents(deps, context),
    },
    {
      name: "background",
      aliases: ["bg", "btw"],
      group: "Conversation",
      args: "task",
      surface: "terminal",
      summary: "Run a task beside this conversation",
      whileBusy: true,
      ownerOnly: false,
      run: async (task) => ({ type: "terminal", request: { kind: "background", task } }),
    },
    {
      name: "stop",
      group: "Conversation",
      summary: "Stop the turn, or the background processes",
      whileBusy: true,
      ownerOnly: false,
      run: (_, context) => stop(deps, context),
    },
  ];
}
