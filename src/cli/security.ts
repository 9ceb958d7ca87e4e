// `hermes security`: reports unsafe settings, permanent permissions and wrong file modes.
import { openSettings } from "../config/api.ts";
import { containerState, listPermissions } from "../container/api.ts";
import { UserError } from "../core/failure.ts";
import type { Terminal } from "../lib/terminal/terminal.ts";
import { type AuditReport, securityAudit } from "../security/api.ts";
import { type CliCommand, type CliContext, JSON_OPTION } from "./command.ts";

const STYLE = { high: "red", medium: "yellow", low: "dim", info: "dim" } as const;

function line(terminal: Terminal, finding: AuditReport["findings"][number]): string {
  const label = terminal.style(STYLE[finding.severity], finding.severity.padEnd(6));
  return `${label}  ${finding.what}${finding.hint ? `\n        ${finding.hint}` : ""}`;
}

async function audit(context: CliContext): Promise<number> {
  const { terminal } = context;
  const loaded = await openSettings(context.home).inspect();
  const container = {
    state: await containerState(context.home, loaded.config),
    permissions: listPermissions(context.home),
  };
  const report = await securityAudit(context.home, loaded, container);
  if (context.values.json) terminal.out(JSON.stringify(report, null, 2));
  else {
    for (const finding of report.findings) terminal.out(line(terminal, finding));
    const wrong = report.findings.filter(
      (finding) => finding.severity === "high" || finding.severity === "medium",
    ).length;
    terminal.out(
      wrong === 0
        ? "Nothing needs to be changed."
        : `${wrong} ${wrong === 1 ? "thing needs" : "things need"} attention.`,
    );
  }
  return report.ok ? 0 : 1;
}

const SENTENCE = { runs: "runs", asks: "asks you first", refused: "is refused" } as const;

async function explain(context: CliContext): Promise<number> {
  const { home, terminal, positionals, values } = context;
  const command = positionals.join(" ");
  if (command.trim() === "")
    throw new UserError("explain which command?", { hint: "hermes security explain 'git push'", exitCode: 2 });
  const { config } = await openSettings(home).inspect();
  const { explainCommand } = await import("../security/gate/api.ts");
  const found = await explainCommand(command, home, { config, state: await containerState(home, config) });
  if (values.json) {
    terminal.out(JSON.stringify(found, null, 2));
    return 0;
  }
  terminal.out(found.place === "container" ? "It would run in the container." : "It would run on this machine itself.");
  terminal.out(`While you are there it ${SENTENCE[found.attended.decision]}: ${found.attended.because}.`);
  terminal.out(`While you are away it ${SENTENCE[found.unattended.decision]}: ${found.unattended.because}.`);
  for (const { rule, class: name, reason } of found.found) terminal.out(`  ${name}  ${rule}  ${reason}`);
  return 0;
}

export const securityCommand: CliCommand = {
  name: "security",
  summary: "Check settings, permissions and file modes for risks",
  defaultSubcommand: "audit",
  subcommands: [
    {
      name: "audit",
      summary: "List unsafe settings, permanent permissions, wrong file modes and clear-text secrets",
      options: JSON_OPTION,
      maxPositionals: 0,
      examples: ["hermes security audit", "hermes security audit --json"],
      run: audit,
    },
    {
      name: "explain",
      args: "COMMAND",
      summary: "Tell what the gate and the container would do with a command, and which rule decides",
      options: JSON_OPTION,
      examples: ["hermes security explain 'git push origin main'", "hermes security explain 'rm -rf build' --json"],
      run: explain,
    },
  ],
};
