// `hermes dump` and `hermes debug share --local`: a report for support, without secrets.
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { openApp } from "../../app/compose.ts";
import { timeStamp } from "../../backup/api.ts";
import { openSettings } from "../../config/api.ts";
import { UserError } from "../../core/failure.ts";
import { listLogs, readLogFile } from "../../logs/api.ts";
import { type CliCommand, type CliContext, integerOption, textOption } from "../command.ts";
import { collectStatus } from "./status.ts";

async function summary(context: CliContext): Promise<string> {
  const settings = openSettings(context.home);
  const [facts, rows, secrets, { problems }] = await Promise.all([
    collectStatus(context),
    settings.rows(),
    settings.secrets(),
    settings.check(),
  ]);
  const changed = rows.filter((row) => row.from !== "default");
  return [
    "--- hermes dump ---",
    ...Object.entries(facts).map(([label, value]) => `${label}: ${value}`),
    `Secrets set: ${secrets.map(({ name }) => name).join(", ") || "none"}`,
    "",
    "Settings that differ from the defaults:",
    ...changed.map(
      (row) => `  ${row.path} = ${JSON.stringify(row.value)}${row.from === "environment" ? " (environment)" : ""}`,
    ),
    ...problems.map(({ message }) => `  problem: ${message}`),
    "--- end ---",
  ].join("\n");
}

/** The secrets of the home are known to the program, so it masks the text. */
async function masked(context: CliContext, text: string): Promise<string> {
  const app = await openApp(context.home);
  try {
    return app.redact(text);
  } finally {
    await app.close();
  }
}

export const dumpCommand: CliCommand = {
  name: "dump",
  summary: "Print a short report for support, without secrets",
  maxPositionals: 0,
  run: async (context) => {
    context.terminal.out(await masked(context, await summary(context)));
    return 0;
  },
};

async function logTails(context: CliContext, lines: number): Promise<string> {
  const parts: string[] = [];
  for (const { name } of await listLogs(context.home)) {
    const records = await readLogFile(context.home, name, {}, lines);
    parts.push(`\n--- ${name}.log (last ${records.length}) ---`, ...records.map((record) => record.text));
  }
  return parts.join("\n");
}

async function share(context: CliContext): Promise<number> {
  const { terminal, home } = context;
  if (!context.values.local)
    throw new UserError("a report is not uploaded anywhere", {
      hint: "Write it to a file, read it, and attach it yourself: hermes debug share --local",
      exitCode: 2,
    });
  const lines = integerOption(context, "lines", { default: 200, min: 1, max: 100_000 });
  const text = await masked(context, `${await summary(context)}\n${await logTails(context, lines)}\n`);
  const named = textOption(context, "output");
  const file = named ? resolve(home.cwd, named) : join(home.cwd, `hermes-debug-${timeStamp(new Date())}.txt`);
  await writeFile(file, text, { mode: 0o600, flag: "wx" });
  terminal.out(file);
  terminal.err("Secrets are masked. Read it before you give it to anybody: it names files, models and errors.");
  return 0;
}

export const debugCommand: CliCommand = {
  name: "debug",
  summary: "Write a report with logs for support, without secrets",
  subcommands: [
    {
      name: "share",
      summary: "Write the report to a file",
      maxPositionals: 0,
      options: {
        local: { type: "boolean", help: "To a file; nothing is uploaded" },
        lines: { type: "string", value: "N", help: "Entries of each log (200)" },
        output: { type: "string", short: "o", value: "FILE", help: "The file" },
      },
      examples: ["hermes debug share --local"],
      run: share,
    },
  ],
};
