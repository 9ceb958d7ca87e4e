// `hermes checkpoints`: lists, compares, restores and prunes snapshots of projects.

import { checkpointHost } from "../app/builtins.ts";
import { UserError } from "../core/failure.ts";
import { formatBytes, relativeTime, renderTable } from "../lib/terminal/columns.ts";
import {
  checkpointStatus,
  clearCheckpoints,
  clearLegacyCheckpoints,
  diffCheckpoint,
  listCheckpoints,
  pruneCheckpoints,
  restoreCheckpoint,
} from "../tools/checkpoints/api.ts";
import { type CliCommand, type CliContext, type CliOption, integerOption, JSON_OPTION, textOption } from "./command.ts";

const PROJECT: { readonly project: CliOption } = {
  project: { type: "string", value: "PATH", help: "The project; the current folder when absent" },
};
const YES: { readonly yes: CliOption } = { yes: { type: "boolean", short: "y", help: "Do not ask" } };
const FORCE: { readonly force: CliOption } = { force: { type: "boolean", short: "f", help: "Do not ask" } };

function printResult(context: CliContext, data: object, text: string): number {
  context.terminal.out(context.values.json ? JSON.stringify(data, null, 2) : text);
  return 0;
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** True when the user agrees. Without a terminal to ask in, the option is required. */
async function confirmed(context: CliContext, option: "yes" | "force", question: string): Promise<boolean> {
  if (context.values[option]) return true;
  if (!context.terminal.interactive)
    throw new UserError("this needs confirmation", {
      hint: `There is no terminal to ask in: add --${option}`,
      exitCode: 2,
    });
  return context.terminal.confirm(question);
}

async function status(context: CliContext): Promise<number> {
  const report = await checkpointStatus(checkpointHost(context.home));
  if (context.values.json) return printResult(context, report, "");
  const limit = report.maxBytes === 0 ? "no limit" : `at most ${formatBytes(report.maxBytes)}`;
  const lines = [
    `Checkpoints: ${report.enabled ? "on" : "off (hermes config set checkpoints.enabled true)"}`,
    `Store:       ${report.path} (${formatBytes(report.bytes)}, ${limit})`,
    ...(report.legacy.length > 0
      ? [`Old stores:  ${report.legacy.length}; remove them: hermes checkpoints clear-legacy`]
      : []),
  ];
  if (report.projects.length > 0) {
    const table = renderTable(
      context.terminal,
      [
        {
          title: "Project",
          flexible: true,
          minWidth: 16,
          value: (row) => `${row.path || "unknown"}${row.exists ? "" : " (gone)"}`,
        },
        { title: "Checkpoints", align: "right", value: (row) => String(row.snapshots) },
        { title: "Last", value: (row) => relativeTime(row.lastTouch) },
      ],
      report.projects,
    );
    lines.push("", table.trimEnd());
  }
  return printResult(context, report, lines.join("\n"));
}

async function list(context: CliContext): Promise<number> {
  const limit = integerOption(context, "limit", { default: 20, min: 1 });
  const found = await listCheckpoints(context.home, textOption(context, "project"));
  const rows = found.snapshots.slice(0, limit).map((snapshot, index) => ({ number: index + 1, ...snapshot }));
  if (rows.length === 0 && !context.values.json) {
    context.terminal.out(`No checkpoints of ${found.project}. See all projects: hermes checkpoints status`);
    return 0;
  }
  const table = renderTable(
    context.terminal,
    [
      { title: "#", align: "right", value: (row) => String(row.number) },
      { title: "Id", value: (row) => row.id.slice(0, 10) },
      { title: "Taken", value: (row) => relativeTime(row.takenAt) },
      { title: "Why", flexible: true, minWidth: 16, value: (row) => row.reason },
    ],
    rows,
  );
  return printResult(context, { project: found.project, checkpoints: rows }, `${found.project}\n${table.trimEnd()}`);
}

function checkpointArguments(context: CliContext, verb: string) {
  const given = context.positionals;
  const [id, path] = context.values.last ? ["1", ...given] : given;
  if (!id)
    throw new UserError(`${verb} which checkpoint?`, {
      hint: "Give its number or its id: hermes checkpoints list",
      exitCode: 2,
    });
  return { id, path, project: textOption(context, "project") };
}

async function diff(context: CliContext): Promise<number> {
  const found = await diffCheckpoint(checkpointHost(context.home), checkpointArguments(context, "compare with"));
  if (found.diff === "") return printResult(context, found, "Nothing changed since this checkpoint.");
  const body = context.values.stat ? "" : `\n\n${found.diff.trimEnd()}${found.cut ? "\n… (the rest is left out)" : ""}`;
  return printResult(context, found, `${found.stat}${body}`);
}

async function restore(context: CliContext): Promise<number> {
  const ask = checkpointArguments(context, "restore");
  const what = ask.path ?? "the whole project, and remove files made since";
  if (!(await confirmed(context, "yes", `Restore ${what}?`))) {
    context.terminal.err("Nothing was changed.");
    return 1;
  }
  const done = await restoreCheckpoint(checkpointHost(context.home), ask);
  const removed = done.removed.length === 0 ? "" : `, ${plural(done.removed.length, "file")} removed`;
  return printResult(
    context,
    done,
    `${done.project}: ${plural(done.changed.length, "file")} restored${removed}.\nTo undo this: hermes checkpoints restore ${done.before.slice(0, 10)}`,
  );
}

async function pruneAll(context: CliContext): Promise<number> {
  const days = context.values["retention-days"];
  const size = context.values["max-size-mb"];
  const done = await pruneCheckpoints(checkpointHost(context.home), {
    retentionDays: days === undefined ? undefined : integerOption(context, "retention-days", { default: 7 }),
    maxSizeMb: size === undefined ? undefined : integerOption(context, "max-size-mb", { default: 500 }),
    keepOrphans: context.values["keep-orphans"] === true,
  });
  return printResult(
    context,
    done,
    `Removed ${plural(done.snapshots, "checkpoint")} and ${plural(done.projects, "project")}; ${formatBytes(done.bytesBefore)} → ${formatBytes(done.bytesAfter)}`,
  );
}

async function clear(context: CliContext): Promise<number> {
  if (!(await confirmed(context, "force", "Remove every checkpoint of every project?"))) return 1;
  const bytes = await clearCheckpoints(context.home);
  return printResult(context, { bytes }, `Removed all checkpoints (${formatBytes(bytes)}).`);
}

async function clearLegacy(context: CliContext): Promise<number> {
  if (!(await confirmed(context, "force", "Remove the stores in the old layout?"))) return 1;
  const removed = await clearLegacyCheckpoints(context.home);
  return printResult(context, { removed }, `Removed ${plural(removed, "old store")}.`);
}

export const checkpointsCommand: CliCommand = {
  name: "checkpoints",
  summary: "Snapshots of projects before the agent changed them: list, compare, restore",
  defaultSubcommand: "status",
  subcommands: [
    {
      name: "status",
      summary: "Show the size of the store and all projects in it",
      maxPositionals: 0,
      options: JSON_OPTION,
      run: status,
    },
    {
      name: "list",
      aliases: ["ls"],
      summary: "List the checkpoints of the project, newest first",
      maxPositionals: 0,
      options: { ...PROJECT, limit: { type: "string", value: "N", help: "How many (20)" }, ...JSON_OPTION },
      run: list,
    },
    {
      name: "diff",
      args: "ID [FILE]",
      summary: "Show what changed since a checkpoint",
      maxPositionals: 2,
      options: { ...PROJECT, stat: { type: "boolean", help: "Only which files and how much" }, ...JSON_OPTION },
      examples: ["hermes checkpoints diff 1", "hermes checkpoints diff 3f2a91 src/main.ts"],
      run: diff,
    },
    {
      name: "restore",
      args: "ID|--last [FILE]",
      summary: "Restore the whole project or one file; the current state is saved as a checkpoint first",
      maxPositionals: 2,
      options: { last: { type: "boolean", help: "The newest checkpoint" }, ...PROJECT, ...YES, ...JSON_OPTION },
      examples: [
        "hermes checkpoints restore --last",
        "hermes checkpoints restore 1",
        "hermes checkpoints restore 2 notes.md --yes",
      ],
      run: restore,
    },
    {
      name: "prune",
      summary: "Remove old checkpoints and those of projects that no longer exist",
      maxPositionals: 0,
      options: {
        "retention-days": { type: "string", value: "DAYS", help: "Remove older ones; 0 keeps all" },
        "max-size-mb": { type: "string", value: "MB", help: "Limit of the total size; 0 for none" },
        "keep-orphans": { type: "boolean", help: "Keep those of projects that no longer exist" },
        ...JSON_OPTION,
      },
      run: pruneAll,
    },
    {
      name: "clear",
      summary: "Remove every checkpoint of every project",
      maxPositionals: 0,
      options: { ...FORCE, ...JSON_OPTION },
      run: clear,
    },
    {
      name: "clear-legacy",
      summary: "Remove stores in the old layout",
      maxPositionals: 0,
      options: { ...FORCE, ...JSON_OPTION },
      run: clearLegacy,
    },
  ],
};
