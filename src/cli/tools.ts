// `hermes tools`: lists tools and their state, and switches toolsets of a platform.

import type { App } from "../app/app.ts";
import { openApp } from "../app/compose.ts";
import { openSettings } from "../config/api.ts";
import { UserError } from "../core/failure.ts";
import { renderTable } from "../lib/terminal/columns.ts";
import { pick } from "../lib/terminal/picker.ts";
import {
  listToolsets,
  showTool,
  switchToolsets,
  type ToolRow,
  type ToolsetChange,
  type ToolsetRow,
  type ToolView,
} from "../tools/api.ts";
import { type CliCommand, type CliContext, type CliOption, JSON_OPTION, textOption } from "./command.ts";

const PLATFORM: { readonly platform: CliOption } = {
  platform: { type: "string", value: "NAME", help: "The platform: cli (default), telegram, cron …" },
};

/** Opens the program for one operation. */
async function withApp<T>(context: CliContext, run: (app: App) => Promise<T>): Promise<T> {
  const app = await openApp(context.home);
  try {
    return await run(app);
  } finally {
    await app.close();
  }
}

function switchFor(context: CliContext, change: { on?: readonly string[]; off?: readonly string[] }) {
  const request = { platform: platformOption(context), ...change };
  return withApp(context, (app) => switchToolsets(app, openSettings(context.home), request));
}

const platformOption = (context: CliContext) => textOption(context, "platform") ?? "cli";

function print(context: CliContext, data: object, text: string): number {
  context.terminal.out(context.values.json ? JSON.stringify(data, null, 2) : text);
  return 0;
}

/** `✓` offered and usable, `!` offered but something is missing, `·` not offered. */
function mark(tool: ToolRow): string {
  if (!tool.on) return "·";
  return tool.available ? "✓" : "!";
}

function remark(row: ToolsetRow): string {
  const unbuilt = row.tools.filter((tool) => !tool.built).map((tool) => tool.name);
  const missing = row.tools.filter((tool) => tool.built && !tool.available);
  const parts = missing.map((tool) => `${tool.name}: ${tool.reason}`);
  if (unbuilt.length > 0) parts.push(`not available yet: ${unbuilt.join(", ")}`);
  return parts.join("; ");
}

async function list(context: CliContext): Promise<number> {
  const platform = platformOption(context);
  const rows = await withApp(context, (app) => listToolsets(app, { platform, all: context.values.all === true }));
  if (context.values.json) return print(context, { platform, toolsets: rows }, "");
  const table = renderTable(
    context.terminal,
    [
      { title: "Toolset", value: (row) => row.name },
      { title: "On", value: (row) => (row.fixed ? "always" : row.tools.some((tool) => tool.built) ? row.on : "–") },
      {
        title: "Tools",
        value: (row) =>
          row.tools
            .filter((tool) => tool.built)
            .map((tool) => `${mark(tool)} ${tool.name}`)
            .join(" "),
      },
      { title: "Remarks", flexible: true, minWidth: 20, value: remark },
    ],
    rows,
  );
  return print(context, {}, table);
}

function isToolset(view: ToolView | ToolsetRow): view is ToolsetRow {
  return "tools" in view;
}

async function show(context: CliContext): Promise<number> {
  const [name] = context.positionals;
  if (!name) throw new UserError("show which tool?", { hint: "For example: hermes tools show read_file", exitCode: 2 });
  const view = await withApp(context, (app) => showTool(app, name, platformOption(context)));
  if (isToolset(view)) {
    const tools = view.tools.map((tool) => `  ${mark(tool)} ${tool.name}${tool.reason ? ` (${tool.reason})` : ""}`);
    return print(context, view, [`${view.name}: ${view.description}`, `On: ${view.on}`, ...tools].join("\n"));
  }
  const lines = [
    `Tool:       ${view.name}`,
    `Toolset:    ${view.toolset} (${view.on ? "on" : "off"} for ${platformOption(context)})`,
    `Available:  ${view.available ? "yes" : `no: ${view.reason}`}`,
    ...(view.built
      ? [`From:       ${view.owner}`, "", view.description, "", JSON.stringify(view.parameters, null, 2)]
      : []),
  ];
  return print(context, view, lines.join("\n"));
}

function report(context: CliContext, change: ToolsetChange): number {
  const lines = change.changed ? [] : [`Nothing to change for ${change.platform}.`];
  if (change.added.length > 0) lines.push(`On for ${change.platform}: ${change.added.join(", ")}`);
  if (change.removed.length > 0) lines.push(`Off for ${change.platform}: ${change.removed.join(", ")}`);
  if (lines.length === 0) lines.push(`Toolsets of ${change.platform}: ${change.toolsets.join(", ")}`);
  if (change.changed) lines.push("Takes effect in the next conversation.");
  print(context, change, lines.join("\n"));
  if (!context.values.json) for (const note of change.notes) context.terminal.err(`note: ${note}`);
  return 0;
}

function names(context: CliContext, verb: string): readonly string[] {
  if (context.positionals.length > 0) return context.positionals;
  throw new UserError(`${verb} which toolset?`, { hint: `For example: hermes tools ${verb} web`, exitCode: 2 });
}

async function enable(context: CliContext): Promise<number> {
  const on = names(context, "enable");
  return report(context, await switchFor(context, { on }));
}

async function disable(context: CliContext): Promise<number> {
  const off = names(context, "disable");
  return report(context, await switchFor(context, { off }));
}

/** Arrow keys and Enter switch; nothing is written before the user saves. */
async function choose(context: CliContext): Promise<number> {
  if (!context.terminal.interactive) return list(context);
  const platform = platformOption(context);
  const rows = (await withApp(context, (app) => listToolsets(app, { platform, all: false }))).filter(
    (row) => !row.fixed,
  );
  const before = new Map(rows.map((row) => [row.name, row.on !== "no"]));
  const now = new Map(before);
  const title = `Toolsets of ${platform} (Enter switches, Esc cancels)`;
  for (let start = 0; ; ) {
    const choices = rows.map((row) => ({
      label: `${now.get(row.name) ? "[x]" : "[ ]"} ${row.name}: ${row.description}`,
      value: row.name,
    }));
    const chosen = await pick(context.terminal, title, [{ label: "Save and leave", value: "" }, ...choices], { start });
    if (chosen === null) return 1;
    if (chosen === "") break;
    now.set(chosen, !now.get(chosen));
    start = rows.findIndex((row) => row.name === chosen) + 1;
  }
  const changed = rows.map((row) => row.name).filter((name) => now.get(name) !== before.get(name));
  const on = changed.filter((name) => now.get(name));
  const off = changed.filter((name) => !now.get(name));
  return report(context, await switchFor(context, { on, off }));
}

export const toolsCommand: CliCommand = {
  name: "tools",
  summary: "List tools, and switch toolsets on and off",
  defaultSubcommand: "choose",
  subcommands: [
    {
      name: "choose",
      summary: "Switch toolsets with the arrow keys (the default in a terminal)",
      maxPositionals: 0,
      options: { ...PLATFORM, ...JSON_OPTION },
      run: choose,
    },
    {
      name: "list",
      aliases: ["ls"],
      summary: "List toolsets and their tools, and what is missing",
      maxPositionals: 0,
      options: { all: { type: "boolean", help: "Also tools that are not available yet" }, ...PLATFORM, ...JSON_OPTION },
      run: list,
    },
    {
      name: "enable",
      args: "TOOLSET…",
      summary: "Offer toolsets on a platform",
      options: { ...PLATFORM, ...JSON_OPTION },
      examples: ["hermes tools enable web", "hermes tools enable terminal --platform telegram"],
      run: enable,
    },
    {
      name: "disable",
      args: "TOOLSET…",
      summary: "Remove toolsets from a platform",
      options: { ...PLATFORM, ...JSON_OPTION },
      run: disable,
    },
    {
      name: "show",
      args: "NAME",
      summary: "Show one tool with its schema, or one toolset",
      maxPositionals: 1,
      options: { ...PLATFORM, ...JSON_OPTION },
      run: show,
    },
  ],
};
