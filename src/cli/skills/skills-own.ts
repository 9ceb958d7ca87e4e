// The subcommands of `hermes skills` for installed skills: list, config, reset, and changes by the agent that need approval.

import { openApp } from "../../app/compose.ts";
import { openOwnSkills } from "../../app/open-skills.ts";
import { UserError } from "../../core/failure.ts";
import { type Column, renderTable } from "../../lib/terminal/columns.ts";
import type { OwnSkillActions, OwnSkills, SkillRow } from "../../skills/api.ts";
import { type CliContext, textOption } from "../command.ts";
import { plain } from "./skills-print.ts";

const SOURCES = ["all", "hub", "builtin", "local", "external", "plugin"];

function ownSkills({ home }: CliContext): OwnSkillActions {
  return openOwnSkills(home, () => openApp(home));
}

function wanted(context: CliContext): (row: SkillRow) => boolean {
  const source = textOption(context, "source") ?? "all";
  if (!SOURCES.includes(source))
    throw new UserError(`there is no source "${source}"`, { hint: `Use one of: ${SOURCES.join(", ")}.`, exitCode: 2 });
  const enabledOnly = Boolean(context.values["enabled-only"]);
  return (row) => (source === "all" || row.source === source) && (!enabledOnly || row.enabled);
}

function printList({ terminal }: CliContext, { skills, problems, waiting }: OwnSkills): void {
  if (skills.length === 0) terminal.out("No skills. Find some with: hermes skills browse");
  else {
    // A narrow terminal has no room for the category; the rows are sorted by it anyway.
    const columns: Column<SkillRow>[] = [
      { title: "Skill", value: (row) => plain(row.name) },
      ...(terminal.columns < 100 ? [] : [{ title: "Category", value: (row: SkillRow) => plain(row.category) }]),
      { title: "From", value: (row) => (row.source === "hub" ? `hub (${plain(row.trust)})` : row.source) },
      ...(skills.every((row) => row.enabled)
        ? []
        : [{ title: "State", value: (row: SkillRow) => (row.enabled ? "on" : "off") }]),
      { title: "Description", flexible: true, minWidth: 16, value: (row) => plain(row.description) },
    ];
    terminal.out(renderTable(terminal, columns, skills));
  }
  for (const { file, line, message, hint } of problems)
    terminal.err(`${terminal.style("yellow", "problem:")} ${file}:${line} ${plain(message)}. ${hint}`);
  for (const change of waiting)
    terminal.err(
      `${terminal.style("yellow", "waiting:")} ${change.id}: the agent's ${change.action} of ${plain(change.name)} was found ${change.verdict}. Read it with: hermes skills review ${change.id}`,
    );
}

export async function list(context: CliContext): Promise<number> {
  const keep = wanted(context);
  const found = await ownSkills(context).list(textOption(context, "platform"));
  const rows = { ...found, skills: found.skills.filter(keep) };
  if (context.values.json) context.terminal.out(JSON.stringify(rows, null, 2));
  else printList(context, rows);
  return 0;
}

async function switchOne(context: CliContext, name: string, on: boolean): Promise<number> {
  const platform = textOption(context, "platform");
  await ownSkills(context).switch(name, on, platform);
  const where = platform ? ` on ${platform}` : "";
  if (context.values.json)
    context.terminal.out(JSON.stringify({ skill: name, enabled: on, platform: platform ?? null }, null, 2));
  else context.terminal.out(`${plain(name)} is ${on ? "on" : "off"}${where}.`);
  return 0;
}

function shownValue(value: unknown): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}

/** Values are given as KEY=VALUE or asked for one by one; Enter keeps the current value. */
export async function config(context: CliContext): Promise<number> {
  const { terminal, values, positionals } = context;
  const enable = textOption(context, "enable");
  const disable = textOption(context, "disable");
  if (enable !== undefined) return switchOne(context, enable, true);
  if (disable !== undefined) return switchOne(context, disable, false);
  const own = ownSkills(context);
  const settings = await own.settings(positionals[0]);
  for (const pair of (values.set ?? []) as readonly string[]) {
    const [, key, text] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (key === undefined || text === undefined || !settings.some((setting) => setting.key === key))
      throw new UserError(`"${pair}" is not a setting of a skill`, {
        hint: `Keys: ${settings.map((setting) => setting.key).join(", ") || "none"}. Write KEY=VALUE.`,
        exitCode: 2,
      });
    await own.set(key, text);
  }
  const asks = terminal.interactive && !values.json && values.set === undefined;
  if (asks)
    for (const setting of settings) {
      const now = shownValue(setting.value ?? setting.default);
      const answer = await terminal.ask(
        `${plain(setting.skill)}: ${plain(setting.prompt)}${now ? ` [${plain(now)}]` : ""}: `,
      );
      if (answer === null) break;
      if (answer.trim() !== "") await own.set(setting.key, answer.trim());
    }
  const now = values.set === undefined && !asks ? settings : await own.settings(positionals[0]);
  if (values.json) terminal.out(JSON.stringify(now, null, 2));
  else if (now.length === 0) terminal.out("No skill has settings.");
  else
    for (const row of now)
      terminal.out(`${row.key} = ${plain(shownValue(row.value ?? row.default))}  (${plain(row.skill)})`);
  return 0;
}

const RESET_TEXTS = {
  restored: "is the shipped version again.",
  manifest_cleared: "is updated by Hermes again; your copy stays if it differs.",
  not_in_manifest: "is not a bundled skill.",
  bundled_missing: "is no longer shipped with Hermes.",
} as const;

export async function reset(context: CliContext): Promise<number> {
  const { terminal, values } = context;
  const [name] = context.positionals;
  if (!name) throw new UserError("which skill?", { hint: "See: hermes skills list --source builtin", exitCode: 2 });
  const restore = Boolean(values.restore);
  if (restore && !values.yes) {
    if (!terminal.interactive)
      throw new UserError(`replace your copy of ${name}? There is no terminal to ask in`, { hint: "Add --yes." });
    if (!(await terminal.confirm(`Replace your copy of ${plain(name)}?`))) return 1;
  }
  const outcome = await ownSkills(context).reset(name, restore);
  if (values.json) terminal.out(JSON.stringify({ skill: name, outcome }, null, 2));
  else terminal.out(`${plain(name)} ${RESET_TEXTS[outcome]}`);
  return outcome === "restored" || outcome === "manifest_cleared" ? 0 : 1;
}

function requireId(context: CliContext): string {
  const [id] = context.positionals;
  if (id) return id;
  throw new UserError("which change?", { hint: "See: hermes skills list", exitCode: 2 });
}

export async function review(context: CliContext): Promise<number> {
  const { terminal, values } = context;
  const files = await ownSkills(context).waitingFiles(requireId(context));
  if (values.json) terminal.out(JSON.stringify(files, null, 2));
  else
    for (const [path, text] of Object.entries(files))
      terminal.out(`${terminal.style("bold", plain(path))}\n${text === null ? "(removed)" : plain(text)}`);
  return 0;
}

export async function approve(context: CliContext): Promise<number> {
  const { terminal, values } = context;
  const id = requireId(context);
  if (terminal.interactive && !values.yes && !(await terminal.confirm(`Approve ${id}? Read it first.`))) return 1;
  const name = await ownSkills(context).approve(id);
  if (values.json) terminal.out(JSON.stringify({ skill: name, done: "approved" }, null, 2));
  else terminal.out(`${plain(name)} is in use.`);
  return 0;
}

export async function reject(context: CliContext): Promise<number> {
  const id = requireId(context);
  await ownSkills(context).reject(id);
  if (context.values.json) context.terminal.out(JSON.stringify({ change: id, done: "rejected" }, null, 2));
  else context.terminal.out(`${id} was rejected.`);
  return 0;
}
