// `hermes doctor`: checks the home, the model, tools and chats, and repairs what is safe.
import type { Terminal } from "../../lib/terminal/terminal.ts";
import { type CliCommand, type CliContext, type DoctorReport, JSON_OPTION } from "../command.ts";

const MARKS = { ok: "✓", warning: "!", error: "✗", skipped: "·" } as const;
const STYLES = { ok: "green", warning: "yellow", error: "red", skipped: "dim" } as const;

function lines(terminal: Terminal, result: DoctorReport["results"][number]): string {
  const mark = terminal.style(STYLES[result.status], MARKS[result.status]);
  const text = `${mark} ${terminal.forOut(result.what)}`;
  if (result.fixed !== null)
    return `${text}\n    ${result.status === "ok" ? "repaired: " : ""}${terminal.forOut(result.fixed)}`;
  return result.remedy === null ? text : `${text}\n    → ${terminal.forOut(result.remedy)}`;
}

function summary(report: DoctorReport): string {
  const { errors, warnings, fixed } = report;
  const plural = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;
  const parts = [plural(errors, "error"), plural(warnings, "warning")];
  if (fixed > 0) parts.push(`${fixed} repaired`);
  if (errors === 0 && warnings === 0) return fixed > 0 ? `All is well; ${fixed} repaired.` : "All is well.";
  const repairable = report.results.some((result) => result.fixable && result.fixed === null);
  return `${parts.join(", ")}.${repairable ? " `hermes doctor --fix` repairs some of them." : ""}`;
}

async function run(context: CliContext): Promise<number> {
  const { terminal, values } = context;
  const report = await context.surfaces.doctor(context.home, {
    fix: values.fix === true,
    onProgress: terminal.progress("Checking"),
  });
  if (values.json) {
    terminal.out(JSON.stringify(report, null, 2));
    return report.ok ? 0 : 1;
  }
  let area = "";
  for (const result of report.results) {
    if (result.area !== area) terminal.out(`${area === "" ? "" : "\n"}${terminal.style("bold", result.area)}`);
    area = result.area;
    terminal.out(terminal.wrapped(lines(terminal, result)));
  }
  terminal.out(`\n${summary(report)}`);
  return report.ok ? 0 : 1;
}

export const doctorCommand: CliCommand = {
  name: "doctor",
  summary: "Check everything, name what is wrong and how to correct it",
  maxPositionals: 0,
  options: { fix: { type: "boolean", help: "Repair what can be repaired without losing anything" }, ...JSON_OPTION },
  examples: ["hermes doctor", "hermes doctor --fix"],
  run,
};
