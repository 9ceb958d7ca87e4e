// `hermes hooks`: lists, tests, approves and checks programs that run at events.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { openHookActions } from "../app/plugin-actions.ts";
import { UserError } from "../core/failure.ts";
import type { JsonObject } from "../core/message.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import { renderTable } from "../lib/terminal/columns.ts";
import type { HookTrial } from "../plugins/hooks/api.ts";
import { type CliCommand, type CliContext, JSON_OPTION, textOption } from "./command.ts";

async function list(context: CliContext): Promise<number> {
  const { terminal } = context;
  const listing = await openHookActions(context.home).list();
  if (context.values.json) {
    terminal.out(JSON.stringify(listing, null, 2));
    return 0;
  }
  if (listing.shell.length === 0 && listing.plugins.length === 0) terminal.out("No hooks. See: docs/hooks.md");
  if (listing.shell.length > 0) {
    const columns = [
      { title: "Event", value: (row: (typeof listing.shell)[number]) => row.event },
      { title: "Matcher", value: (row: (typeof listing.shell)[number]) => row.matcher ?? "" },
      { title: "Limit", value: (row: (typeof listing.shell)[number]) => `${row.timeoutSeconds} s` },
      {
        title: "Consent",
        value: (row: (typeof listing.shell)[number]) => `${row.consent}${row.changed ? ", changed since" : ""}`,
      },
      { title: "Command", flexible: true, value: (row: (typeof listing.shell)[number]) => row.command },
    ];
    terminal.out(renderTable(terminal, columns, listing.shell));
  }
  for (const row of listing.plugins) terminal.out(`plugin ${row.plugin}: ${row.hooks.join(", ")}`);
  for (const problem of listing.problems) terminal.err(`warning: ${problem}`);
  return 0;
}

async function readPayload(context: CliContext): Promise<JsonObject | undefined> {
  const file = textOption(context, "payload-file");
  if (!file) return undefined;
  const text = await readFile(resolve(context.home.cwd, file), "utf8").catch(() => {
    throw new UserError(`cannot read ${file}`, { exitCode: 2 });
  });
  const value = parseJson(text);
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new UserError(`${file} is not a JSON object`, { exitCode: 2 });
  return value as JsonObject;
}

function trialLines(trial: HookTrial): string {
  if (!trial.matched) return `${trial.command}\n  does not match this tool`;
  const lines = [`  exit code ${trial.code} after ${trial.ms} ms`];
  lines.push(
    trial.failure
      ? `  failed: ${trial.failure}`
      : `  answer: ${trial.answer === undefined ? "none" : JSON.stringify(trial.answer)}`,
  );
  if (trial.stderr) lines.push(`  on standard error: ${trial.stderr.trim()}`);
  return [trial.command, ...lines].join("\n");
}

async function test(context: CliContext): Promise<number> {
  const { terminal } = context;
  const [event] = context.positionals;
  if (!event)
    throw new UserError("which event?", { hint: "For example: hermes hooks test pre_tool_call", exitCode: 2 });
  const trials = await openHookActions(context.home).test(event, {
    tool: textOption(context, "for-tool") || undefined,
    payload: await readPayload(context),
  });
  if (context.values.json) terminal.out(JSON.stringify(trials, null, 2));
  else if (trials.length === 0) terminal.out(`No shell hook listens to ${event}.`);
  else for (const trial of trials) terminal.out(trialLines(trial));
  return trials.some((trial) => trial.failure) ? 1 : 0;
}

async function approve(context: CliContext): Promise<number> {
  const [command] = context.positionals;
  const count = await openHookActions(context.home).approve(command);
  if (context.values.json) context.terminal.out(JSON.stringify({ approved: count }));
  else context.terminal.out(count === 1 ? "1 hook is approved." : `${count} hooks are approved.`);
  return 0;
}

async function revoke(context: CliContext): Promise<number> {
  const [command] = context.positionals;
  if (!command) throw new UserError("which command?", { hint: "See: hermes hooks list", exitCode: 2 });
  const count = await openHookActions(context.home).revoke(command);
  if (context.values.json) context.terminal.out(JSON.stringify({ revoked: count }));
  else context.terminal.out(count === 0 ? "It was not approved." : "It will not run again until you approve it.");
  return count === 0 ? 1 : 0;
}

async function doctor(context: CliContext): Promise<number> {
  const { terminal } = context;
  const report = await openHookActions(context.home).doctor();
  const wrong = report.problems.length + report.checks.filter((check) => check.problems.length > 0).length;
  if (context.values.json) terminal.out(JSON.stringify(report, null, 2));
  else {
    for (const problem of report.problems) terminal.out(`${terminal.style("red", "config")}  ${problem}`);
    for (const check of report.checks) {
      const state = check.problems.length === 0 ? "works" : check.problems.join("; ");
      terminal.out(`${check.event}  ${check.command}\n  ${state}`);
    }
    if (report.checks.length === 0 && wrong === 0) terminal.out("No shell hooks.");
  }
  return wrong === 0 ? 0 : 1;
}

export const hooksCommand: CliCommand = {
  name: "hooks",
  summary: "Programs that run at events: list, test, approve, check",
  defaultSubcommand: "list",
  subcommands: [
    {
      name: "list",
      aliases: ["ls"],
      summary: "List shell hooks and the hooks of plugins",
      maxPositionals: 0,
      options: JSON_OPTION,
      run: list,
    },
    {
      name: "test",
      args: "EVENT",
      summary: "Run the shell hooks of an event with a sample payload",
      maxPositionals: 1,
      options: {
        ...JSON_OPTION,
        "for-tool": { type: "string", value: "TOOL", help: "The tool's name in the payload" },
        "payload-file": { type: "string", value: "FILE", help: "JSON with arguments of the event" },
      },
      examples: ["hermes hooks test pre_tool_call --for-tool terminal"],
      run: test,
    },
    {
      name: "approve",
      args: "[COMMAND]",
      summary: "Allow one command, or all that are configured",
      maxPositionals: 1,
      options: JSON_OPTION,
      run: approve,
    },
    {
      name: "revoke",
      args: "COMMAND",
      summary: "Withdraw an approval",
      maxPositionals: 1,
      options: JSON_OPTION,
      run: revoke,
    },
    {
      name: "doctor",
      summary: "Check every shell hook; exit code 1 when one does not work",
      maxPositionals: 0,
      options: JSON_OPTION,
      run: doctor,
    },
  ],
};
