// `hermes config`: show, look up, change, edit, check and migrate the settings of a home.

import { openSettings } from "../config/api.ts";
import { ACCEPTED_NOTE } from "../core/config/accepted.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { SettingRow, Settings } from "../core/settings.ts";
import type { Terminal } from "../lib/terminal/terminal.ts";
import { truncate } from "../lib/text/truncate.ts";
import type { DeclaredSettings } from "../skills/api.ts";
import type { CliCommand, CliContext } from "./command.ts";
import { JSON_OPTION } from "./command.ts";

type Problems = Awaited<ReturnType<Settings["check"]>>["problems"];

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value) ?? "";
}

function printJson(terminal: Terminal, value: unknown): void {
  terminal.out(JSON.stringify(value, null, 2));
}

function printProblems(terminal: Terminal, problems: Problems): void {
  for (const { message, line } of problems) {
    const place = line === undefined || message.includes(`line ${line}`) ? "" : ` (line ${line})`;
    terminal.err(`${terminal.style("yellow", "warning:")} ${message}${place}`);
  }
}

function printRows(terminal: Terminal, rows: readonly SettingRow[]): void {
  const width = Math.max(0, ...rows.map((row) => row.path.length));
  for (const row of rows) {
    const origin = row.from === "environment" ? terminal.style("dim", "  (environment)") : "";
    const shown = truncate(JSON.stringify(row.value) ?? "", terminal.columns - width - 18);
    terminal.out(`  ${terminal.style("cyan", row.path.padEnd(width))}  ${shown}${origin}`);
  }
}

/** What the skills of the home declare, also when config.yaml has mistakes. */
async function skillSettings(home: Home, settings: Settings): Promise<DeclaredSettings> {
  const { homeSkillSettings } = await import("../skills/api.ts");
  return homeSkillSettings(home.path, (await settings.inspect()).config.skills);
}

function printSkillSettings(terminal: Terminal, declared: DeclaredSettings): void {
  if (declared.length === 0) return;
  terminal.out(`\n${terminal.style("bold", "Skill Settings")}`);
  const width = Math.max(...declared.map(({ path }) => path.length));
  for (const { path, skill, value, set } of declared) {
    const shown = value === undefined ? "(not set)" : truncate(JSON.stringify(value), terminal.columns - width - 30);
    const origin = terminal.style("dim", `  (${skill}${set || value === undefined ? "" : ", default"})`);
    terminal.out(`  ${terminal.style("cyan", path.padEnd(width))}  ${shown}${origin}`);
  }
}

async function printSettings(context: CliContext, settings: Settings): Promise<void> {
  const { home, terminal, values } = context;
  const all = Boolean(values.all);
  const rows = (await settings.rows()).filter((row) => all || row.from !== "default");
  const secrets = await settings.secrets();
  terminal.out(`Profile   ${home.profile}`);
  terminal.out(`Settings  ${settings.path}`);
  terminal.out(`Secrets   ${settings.envPath}`);
  terminal.out(`\n${terminal.style("bold", all ? "Every setting" : "Settings that differ from the defaults")}`);
  if (rows.length > 0) printRows(terminal, rows);
  else terminal.out("  none; every setting has its default (hermes config show --all lists them)");
  printSkillSettings(terminal, await skillSettings(home, settings));
  if (secrets.length === 0) return;
  terminal.out(`\n${terminal.style("bold", "Secrets in .env")}`);
  const width = Math.max(...secrets.map(({ name }) => name.length));
  for (const { name, value } of secrets) terminal.out(`  ${terminal.style("cyan", name.padEnd(width))}  ${value}`);
}

const show: CliCommand = {
  name: "show",
  summary: "Print the effective settings, secrets masked",
  options: { all: { type: "boolean", help: "Defaults as well" }, ...JSON_OPTION },
  maxPositionals: 0,
  run: async (context) => {
    const settings = openSettings(context.home);
    const { problems } = await settings.check();
    if (context.values.json) {
      const rows = (await settings.rows()).filter((row) => context.values.all || row.from !== "default");
      const { path, envPath } = settings;
      const secrets = await settings.secrets();
      const declared = await skillSettings(context.home, settings);
      const { profile } = context.home;
      const shown = { profile, path, envPath, settings: rows, skill_settings: declared, secrets, problems };
      printJson(context.terminal, shown);
      return 0;
    }
    await printSettings(context, settings);
    printProblems(context.terminal, problems);
    return 0;
  },
};

function requireArgument(context: CliContext, index: number, usage: string): string {
  const word = context.positionals[index];
  if (word === undefined) throw new UserError(`usage: hermes config ${usage}`, { exitCode: 2 });
  return word;
}

const get: CliCommand = {
  name: "get",
  args: "KEY",
  summary: "Print one setting, for example compression.threshold",
  options: { reveal: { type: "boolean", help: "Print secrets in clear" }, ...JSON_OPTION },
  maxPositionals: 1,
  run: async (context) => {
    const key = requireArgument(context, 0, "get KEY");
    const settings = openSettings(context.home);
    const { blocking } = await settings.inspect();
    for (const { message } of blocking) context.terminal.err(`warning: ${message}`);
    const value = await settings.get(key, { reveal: Boolean(context.values.reveal) });
    if (context.values.json) printJson(context.terminal, value);
    else context.terminal.out(typeof value === "object" ? JSON.stringify(value, null, 2) : String(value));
    return 0;
  },
};

const set: CliCommand = {
  name: "set",
  args: "KEY VALUE",
  summary: "Change one setting; keys and tokens go to .env",
  options: { force: { type: "boolean", help: "Accept a key that is not known" }, ...JSON_OPTION },
  maxPositionals: 2,
  examples: [
    "hermes config set model anthropic/claude-sonnet-4.6",
    "hermes config set compression.threshold 0.6",
    "hermes config set agent.disabled_toolsets browser,tts",
    "hermes config set OPENROUTER_API_KEY sk-or-…",
  ],
  run: async (context) => {
    const key = requireArgument(context, 0, "set KEY VALUE");
    const text = requireArgument(context, 1, "set KEY VALUE");
    const outcome = await openSettings(context.home).set(key, text, { force: Boolean(context.values.force) });
    if (context.values.json) printJson(context.terminal, outcome);
    else context.terminal.out(`${outcome.key} = ${asText(outcome.value)}  (${outcome.file})`);
    if (outcome.hint && !context.values.json) context.terminal.err(`note: ${outcome.hint}`);
    return 0;
  },
};

const unset: CliCommand = {
  name: "unset",
  args: "KEY",
  summary: "Remove one setting, so that its default applies again",
  maxPositionals: 1,
  run: async (context) => {
    const key = requireArgument(context, 0, "unset KEY");
    await openSettings(context.home).unset(key);
    context.terminal.out(`${key} is no longer set`);
    return 0;
  },
};

async function runEditor(home: Home, path: string): Promise<void> {
  const { spawn } = await import("node:child_process");
  const chosen = home.env.VISUAL || home.env.EDITOR;
  const candidates = chosen ? [chosen] : ["nano", "vim", "vi"];
  for (const candidate of candidates) {
    const [program = "", ...args] = candidate.trim().split(/\s+/);
    const outcome = await new Promise<number | "missing">((resolve, reject) => {
      const child = spawn(program, [...args, path], { stdio: "inherit", env: home.env });
      child.on("error", (error) =>
        (error as NodeJS.ErrnoException).code === "ENOENT" ? resolve("missing") : reject(error),
      );
      child.on("close", (code) => resolve(code ?? 1));
    });
    if (outcome === 0) return;
    if (outcome !== "missing") throw new UserError(`the editor "${candidate}" ended with exit code ${outcome}`);
  }
  throw new UserError(`no editor was found (tried ${candidates.join(", ")})`, {
    hint: `Set EDITOR, or open ${path} yourself.`,
  });
}

async function reportCheck(context: CliContext): Promise<number> {
  const { terminal } = context;
  const { problems, withoutEffect, version, newest } = await openSettings(context.home).check();
  if (context.values.json)
    printJson(terminal, { ok: problems.length === 0, version, newest, problems, without_effect: withoutEffect });
  else {
    printProblems(terminal, problems);
    if (problems.length > 0)
      terminal.out(`${problems.length} ${problems.length === 1 ? "problem" : "problems"} found.`);
    else terminal.out("The configuration is in order.");
    if (withoutEffect.length > 0)
      terminal.out(terminal.wrapped(`Note: ${ACCEPTED_NOTE}: ${withoutEffect.join(", ")}.`));
    if (version < newest) terminal.out(`Its layout is version ${version} of ${newest}: run hermes config migrate.`);
  }
  return problems.length === 0 ? 0 : 1;
}

const edit: CliCommand = {
  name: "edit",
  summary: "Open config.yaml in your editor, then check it",
  maxPositionals: 0,
  run: async (context) => {
    const settings = openSettings(context.home);
    await settings.prepareEdit();
    await runEditor(context.home, settings.path);
    return reportCheck(context);
  },
};

const check: CliCommand = {
  name: "check",
  summary: "Check config.yaml for mistakes; exit code 1 when there are any",
  options: JSON_OPTION,
  maxPositionals: 0,
  run: reportCheck,
};

const migrate: CliCommand = {
  name: "migrate",
  summary: "Update config.yaml to the newest layout; makes a backup first",
  options: JSON_OPTION,
  maxPositionals: 0,
  run: async (context) => {
    const { terminal } = context;
    const report = await openSettings(context.home).migrate();
    if (context.values.json) {
      printJson(terminal, report);
      return 0;
    }
    if (report.backup === null) {
      terminal.out(`Nothing to do: the layout is version ${report.to}.`);
      return 0;
    }
    terminal.out(`Version ${report.from} → ${report.to}. The old file is ${report.backup}`);
    for (const step of report.steps) terminal.out(`  ${step}`);
    for (const { from, to } of report.moved) terminal.out(`  moved    ${from} → ${to}`);
    for (const { path, reason } of report.dropped) terminal.out(`  dropped  ${path}: ${reason}`);
    return 0;
  },
};

function pathCommand(name: string, summary: string, pick: (settings: Settings) => string): CliCommand {
  return {
    name,
    summary,
    maxPositionals: 0,
    run: async ({ home, terminal }) => {
      terminal.out(pick(openSettings(home)));
      return 0;
    },
  };
}

export const configCommand: CliCommand = {
  name: "config",
  summary: "Show, change and check the configuration",
  defaultSubcommand: "show",
  subcommands: [
    show,
    get,
    set,
    unset,
    edit,
    pathCommand("path", "Print where config.yaml is", (settings) => settings.path),
    pathCommand("env-path", "Print where .env is", (settings) => settings.envPath),
    check,
    migrate,
  ],
};
