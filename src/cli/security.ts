// `hermes security`: reports unsafe settings, permanent permissions and wrong file modes.
import { openSettings } from "../config/api.ts";
import type { Terminal } from "../lib/terminal/terminal.ts";
import { type AuditFinding, securityAudit } from "../security/api.ts";
import { type CliCommand, type CliContext, JSON_OPTION } from "./command.ts";

const STYLE = { high: "red", medium: "yellow", low: "dim", info: "dim" } as const;

function line(terminal: Terminal, finding: AuditFinding): string {
  const label = terminal.style(STYLE[finding.severity], finding.severity.padEnd(6));
  return `${label}  ${finding.what}${finding.hint ? `\n        ${finding.hint}` : ""}`;
}

async function audit(context: CliContext): Promise<number> {
  const { terminal } = context;
  const report = await securityAudit(context.home, await openSettings(context.home).inspect());
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
  ],
};
