// /rollback: lists, compares and restores checkpoints of the project's files.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { oneLine } from "../lib/text/one-line.ts";
import { answerErrors, type BuiltinCommand, columns, isTerminal, text, words } from "./builtin-command.ts";
import type { CheckpointRow, CommandDeps } from "./command-deps.ts";
import { age, plural } from "./format.ts";

const MAX_DIFF_LINES = 200;
const MAX_CHAT_LINES = 40;
const MAX_NAMES = 8;

function ageOf(row: CheckpointRow): string {
  return `${age(Date.now() / 1000 - row.at)} ago`;
}

async function list({ checkpoints }: CommandDeps): Promise<CommandAnswer> {
  const found = await checkpoints.list();
  if (found.checkpoints.length === 0)
    return text(
      checkpoints.enabled
        ? `There are no checkpoints of ${found.project} yet. One is made before the first change of a turn.`
        : "Checkpoints are off. Switch them on: hermes config set checkpoints.enabled true",
    );
  return {
    type: "choose",
    title: `Checkpoints of ${found.project} (Enter restores)`,
    choices: found.checkpoints.map((row, index) => ({
      label: `${index + 1}. ${ageOf(row)}`,
      value: row.id,
      description: oneLine(row.reason, 60),
      detail: async () => (await checkpoints.diff(row.id)).stat || "No changes since.",
    })),
    actions: [{ key: "d", label: "compare", args: (value) => `diff ${value}` }],
  };
}

async function diff({ checkpoints }: CommandDeps, id: string, context: CommandContext): Promise<CommandAnswer> {
  if (id === "") return text("Which checkpoint? /rollback diff N");
  const found = await checkpoints.diff(id);
  if (found.stat === "") return text("Nothing has changed since that checkpoint.");
  const lines = found.diff.split("\n");
  const most = isTerminal(context) ? MAX_DIFF_LINES : MAX_CHAT_LINES;
  const rest = lines.length > most ? [`… ${lines.length - most} more lines`] : [];
  return text([found.stat, "", ...lines.slice(0, most), ...rest].join("\n"));
}

function names(list: readonly string[]): string {
  return `${list.slice(0, MAX_NAMES).join(", ")}${list.length > MAX_NAMES ? ` and ${list.length - MAX_NAMES} more` : ""}`;
}

/** Restoring the project also takes back the last exchange: the agent must not believe in files that are gone. */
async function restore(deps: CommandDeps, args: readonly string[], context: CommandContext): Promise<CommandAnswer> {
  const [id = "", ...rest] = args;
  const path = rest.join(" ") || undefined;
  const { changed, removed, before } = await deps.checkpoints.restore(id, path);
  const undone = path === undefined ? await context.conversation.undo() : null;
  const lines = [
    changed.length + removed.length === 0 ? "The files were the same already." : "",
    changed.length > 0 ? `Restored ${plural(changed.length, "file")}: ${names(changed)}` : "",
    removed.length > 0 ? `Removed ${plural(removed.length, "newer file")}: ${names(removed)}` : "",
    undone ? `Your last message and its answer were taken back: ${oneLine(undone.text, 60)}` : "",
    `The state before this is checkpoint ${before.slice(0, 8)}.`,
  ];
  return text(lines.filter((line) => line !== "").join("\n"));
}

async function rollback(deps: CommandDeps, args: string, context: CommandContext): Promise<CommandAnswer> {
  const [first = "", ...rest] = words(args);
  if (first === "" || first === "list") return list(deps);
  if (first === "diff") return diff(deps, rest.join(" "), context);
  if (first === "help") return columns(HELP);
  return restore(deps, first === "restore" ? rest : [first, ...rest], context);
}

const HELP = `/rollback              checkpoints of this project
/rollback diff N       what has changed since
/rollback N            restore the project, and take back the last exchange
/rollback N FILE       restore one file`;

export function rollbackCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    {
      name: "rollback",
      aliases: ["checkpoints"],
      group: "Tools and skills",
      args: "[number|diff number|number file]",
      summary: "Compare and restore the project's files",
      ownerOnly: true,
      run: (args, context) => answerErrors(() => rollback(deps, args, context)),
    },
  ];
}
