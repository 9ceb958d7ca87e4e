// `hermes plugins`: lists, installs, updates, removes and switches plugins.
import { join } from "node:path";
import { openPluginActions } from "../app/plugin-actions.ts";
import { UserError } from "../core/failure.ts";
import type { PluginVariable } from "../core/plugin.ts";
import { renderTable } from "../lib/terminal/columns.ts";
import type { PluginRow } from "../plugins/api.ts";
import { type CliCommand, type CliContext, type CliOption, JSON_OPTION } from "./command.ts";

function requireName(context: CliContext, what = "plugin"): string {
  const [name] = context.positionals;
  if (name) return name;
  throw new UserError(`which ${what}?`, { hint: "See: hermes plugins list", exitCode: 2 });
}

function registrationSummary(row: PluginRow): string {
  const { registrations: known, provides } = row;
  const counts: (readonly [string, number])[] = known
    ? [
        ["tool", known.tools.length],
        ["hook", known.hooks.length],
        ["command", known.commands.length + known.cliCommands.length],
        ["engine", known.contextEngines.length],
        ["memory", known.memoryProviders.length],
        ["skill", known.skills.length + known.skillRoots.length],
        ["provider", known.modelProviders.length + known.webProviders.length + known.providers.length],
      ]
    : Object.entries(provides).map(([sort, names]) => [sort.replace(/s$/, ""), names.length] as const);
  return counts
    .filter(([, count]) => count > 0)
    .map(([word, count]) => (count === 1 ? `1 ${word}` : `${count} ${word}${word === "memory" ? "" : "s"}`))
    .join(", ");
}

function state(row: PluginRow): string {
  if (row.problem) return "does not work";
  const chosen = row.kind === "memory" || row.kind === "exclusive" || row.kind === "context-engine";
  return chosen && row.status === "not enabled" ? "not chosen" : row.status;
}

function loadTime(row: PluginRow): string {
  return row.loadMs === undefined ? "" : `${Math.round(row.loadMs)} ms`;
}

function printRows(context: CliContext, rows: readonly PluginRow[]): void {
  const { terminal } = context;
  if (rows.length === 0) {
    terminal.out("No plugins. Install one with: hermes plugins install SOURCE");
    return;
  }
  const timed = rows.some((row) => row.loadMs !== undefined);
  const table = renderTable(
    terminal,
    [
      { title: "Plugin", value: (row) => row.key },
      { title: "Version", value: (row) => row.version },
      { title: "From", value: (row) => row.source },
      { title: "State", value: state },
      ...(timed ? [{ title: "Load", align: "right" as const, value: loadTime }] : []),
      { title: "Provides", value: registrationSummary },
      { title: "What it is", flexible: true, minWidth: 20, value: (row) => row.description },
    ],
    rows,
  );
  terminal.out(table);
  for (const row of rows) {
    const remarks = [row.problem, ...row.remarks].filter((text) => text !== undefined);
    if (row.status !== "not enabled" && row.missingEnv.length > 0)
      remarks.push(`not set: ${row.missingEnv.join(", ")}`);
    const replaced = row.registrations?.tools.filter((tool) => tool.override).map((tool) => tool.name) ?? [];
    if (replaced.length > 0) remarks.push(`replaces: ${replaced.join(", ")}`);
    for (const remark of remarks) terminal.out(`${terminal.style("yellow", row.key)}: ${remark}`);
  }
}

async function list(context: CliContext): Promise<number> {
  const actions = openPluginActions(context.home);
  const found = context.values.check
    ? await actions.check((text) => context.terminal.err(`notice: ${text}`))
    : await actions.list();
  const rows = context.values.all ? [await actions.builtins(), ...found] : found;
  const broken = rows.some((row) => row.problem && row.status !== "not enabled" && row.status !== "disabled");
  if (context.values.json) context.terminal.out(JSON.stringify(rows, null, 2));
  else printRows(context, rows);
  return context.values.check && broken ? 1 : 0;
}

async function askVariables(context: CliContext, variables: readonly PluginVariable[]): Promise<void> {
  const { terminal, home } = context;
  for (const { name, description, url } of variables) {
    const about = [description, url].filter(Boolean).join(", ");
    if (!terminal.interactive) {
      terminal.err(`It needs ${name}${about ? ` (${about})` : ""}. Put ${name}=… into ${join(home.path, ".env")}`);
      continue;
    }
    if (about) terminal.err(about);
    const value = await terminal.askHidden(`${name} (not shown, empty to skip): `);
    if (value) await openPluginActions(home).setVariable(name, value);
    else terminal.err(`Put ${name}=… into ${join(home.path, ".env")} when you have it.`);
  }
}

async function install(context: CliContext): Promise<number> {
  const { terminal, values } = context;
  const source = requireName(context, "source");
  const actions = openPluginActions(context.home);
  const plan = actions.plan(source);
  const json = Boolean(values.json);
  if (!json) terminal.err(`This will\n${plan.map((step) => `  - ${step}`).join("\n")}`);
  if (values["dry-run"]) {
    if (json) terminal.out(JSON.stringify({ plan, installed: null }, null, 2));
    return 0;
  }
  if (terminal.interactive && !values.yes && !(await terminal.confirm("Continue?"))) return 1;
  const { plugin, note, missingEnv } = await actions.install(source, { force: Boolean(values.force) });
  const { name, version, kind } = plugin.manifest;
  const chosen = kind === "memory" || kind === "exclusive";
  const asked = !values.enable && !values["no-enable"] && !chosen && terminal.interactive;
  const enable = !chosen && (values.enable || (asked && (await terminal.confirm(`Enable ${name}?`))));
  if (enable) await actions.enable(plugin.key);
  if (json) {
    terminal.out(
      JSON.stringify(
        {
          plan,
          installed: {
            name,
            version,
            dir: plugin.dir,
            enabled: Boolean(enable),
            missingEnv: missingEnv.map((variable) => variable.name),
          },
        },
        null,
        2,
      ),
    );
    return 0;
  }
  const next = chosen
    ? `Choose it with: hermes memory setup ${name}`
    : `Enable it with: hermes plugins enable ${plugin.key}`;
  terminal.out(`Installed ${name} ${version}.${enable ? " It is enabled." : ` ${next}`}`);
  await askVariables(context, missingEnv);
  if (note) terminal.out(note.trim());
  return 0;
}

/** Runs the action on the named plugin and prints the result. */
function change(action: "enable" | "disable" | "update" | "remove", message: string) {
  return async (context: CliContext): Promise<number> => {
    const { terminal, values, home } = context;
    const name = requireName(context);
    if (action === "remove") await openPluginActions(home).removable(name);
    if (action === "remove" && terminal.interactive && !values.yes && !(await terminal.confirm(`Remove ${name}?`)))
      return 1;
    const result = await openPluginActions(home)[action](name);
    if (values.json) terminal.out(JSON.stringify({ plugin: name, done: action }, null, 2));
    else terminal.out(action === "update" ? `${name}: ${result}.` : `${result} ${message}`);
    return 0;
  };
}

const YES: { readonly [name: string]: CliOption } = { yes: { type: "boolean", short: "y", help: "Do not ask" } };

export const pluginsCommand: CliCommand = {
  name: "plugins",
  summary: "List, install and switch plugins",
  defaultSubcommand: "choose",
  subcommands: [
    {
      name: "choose",
      summary: "Switch plugins with the arrow keys (the default in a terminal)",
      maxPositionals: 0,
      options: JSON_OPTION,
      run: async (context) => (await import("./plugins-choose.ts")).choosePlugins(context, list),
    },
    {
      name: "list",
      aliases: ["ls"],
      summary: "List plugins with their state, what they provide and their load time",
      maxPositionals: 0,
      options: {
        ...JSON_OPTION,
        all: { type: "boolean", help: "Also the built-in plugin" },
        check: { type: "boolean", help: "Load enabled plugins now; exit code 1 when one fails" },
      },
      examples: ["hermes plugins list", "hermes plugins list --check", "hermes plugins list --all"],
      run: list,
    },
    {
      name: "install",
      args: "SOURCE",
      summary: "Install a plugin: git address, owner/repo, npm:PACKAGE or a folder",
      maxPositionals: 1,
      options: {
        ...JSON_OPTION,
        ...YES,
        force: { type: "boolean", short: "f", help: "Replace one that is installed" },
        enable: { type: "boolean", help: "Enable it at once" },
        "no-enable": { type: "boolean", help: "Do not ask whether to enable it" },
        "dry-run": { type: "boolean", help: "Only print what would be done" },
      },
      examples: ["hermes plugins install ./my-plugin --enable", "hermes plugins install npm:hermes-weather"],
      run: install,
    },
    {
      name: "update",
      args: "PLUGIN",
      summary: "Update a plugin from its source",
      maxPositionals: 1,
      options: JSON_OPTION,
      run: change("update", ""),
    },
    {
      name: "remove",
      aliases: ["rm", "uninstall"],
      args: "PLUGIN",
      summary: "Delete an installed plugin",
      maxPositionals: 1,
      options: { ...JSON_OPTION, ...YES },
      run: change("remove", "was removed."),
    },
    {
      name: "enable",
      args: "PLUGIN",
      summary: "Enable a plugin from the next start",
      maxPositionals: 1,
      options: JSON_OPTION,
      run: change("enable", "is enabled; it takes effect at the next start."),
    },
    {
      name: "disable",
      args: "PLUGIN",
      summary: "Disable a plugin",
      maxPositionals: 1,
      options: JSON_OPTION,
      run: change("disable", "is disabled."),
    },
  ],
};
