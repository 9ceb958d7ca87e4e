// Prints skills from the hub, the findings of the guard and the changes. Control characters in their text are replaced.
import { stripVTControlCharacters } from "node:util";
import { UserError } from "../../core/failure.ts";
import type { InstallPlan } from "../../core/skill-hub.ts";
import { formatBytes } from "../../lib/terminal/columns.ts";
import type { Terminal } from "../../lib/terminal/terminal.ts";
import { displayWidth } from "../../lib/text/text-width.ts";
import type { CliCommand } from "../command.ts";

const MAX_FINDINGS = 12;
const MAX_FILES = 20;
const MAX_PATCH_LINES = 400;

/** Escape codes and invisible characters are shown as dots. */
export function plain(text: string): string {
  return text.replaceAll(/[^\P{C}\n\t]/gu, "·");
}

/** The command with control characters removed from its errors, which may quote text from outside. */
export function withPlainErrors(command: CliCommand): CliCommand {
  const { run, subcommands } = command;
  return {
    ...command,
    ...(subcommands ? { subcommands: subcommands.map(withPlainErrors) } : {}),
    ...(run
      ? {
          run: (context) =>
            run(context).catch((error: unknown) => {
              if (!(error instanceof UserError)) throw error;
              const { exitCode, hint } = error;
              throw new UserError(plain(error.message), { exitCode, ...(hint ? { hint: plain(hint) } : {}) });
            }),
        }
      : {}),
  };
}

/** Wraps between words and indents the lines after the first; a pipe gets one line. */
export function wrapped(terminal: Terminal, text: string, indent: string): string {
  const lines: string[] = [];
  const [first = "", ...words] = text.trimStart().split(" ");
  let line = text.slice(0, text.length - text.trimStart().length) + first;
  for (const word of words) {
    if (displayWidth(stripVTControlCharacters(`${line} ${word}`)) <= terminal.columns) line += ` ${word}`;
    else {
      lines.push(line);
      line = indent + word;
    }
  }
  return [...lines, line].join("\n");
}

const COLOURS = { safe: "green", caution: "yellow", dangerous: "red" } as const;

export function verdictText(terminal: Terminal, verdict: string): string {
  return terminal.style(COLOURS[verdict as keyof typeof COLOURS] ?? "dim", verdict);
}

export function findingLines(terminal: Terminal, findings: InstallPlan["findings"]): string[] {
  const serious = findings.filter((finding) => finding.severity !== "low");
  const lines = serious.slice(0, MAX_FINDINGS).map(({ severity, what, file, line, match }) => {
    const place = line > 0 ? `${file}:${line}` : file;
    const [id = "", ...words] = what.split(": ");
    const verdict = verdictText(terminal, severity === "critical" ? "dangerous" : "caution");
    const said = words.length > 0 ? `${words.join(": ")} ${terminal.style("dim", `(${id})`)}` : id;
    const quoted = match ? `\n    ${terminal.style("dim", plain(match))}` : "";
    return `${wrapped(terminal, `  ${verdict} ${plain(place)} ${said}`, "    ")}${quoted}`;
  });
  const more = serious.length - lines.length;
  return more > 0 ? [...lines, `  and ${more} more`] : lines;
}

const SIGNS = { added: "+", removed: "-", changed: "~" } as const;

export function changeLines(changes: InstallPlan["changes"]): string[] {
  const lines = changes
    .slice(0, MAX_FILES)
    .map(({ kind, path, plus, minus }) => `  ${SIGNS[kind]} ${plain(path)} (+${plus} −${minus})`);
  const more = changes.length - lines.length;
  return more > 0 ? [...lines, `  and ${more} more`] : lines;
}

export function patchText(changes: InstallPlan["changes"]): string {
  const lines = changes.flatMap((change) => plain(change.patch).split("\n"));
  const cut = lines.slice(0, MAX_PATCH_LINES);
  return [...cut, ...(lines.length > cut.length ? [`… ${lines.length - cut.length} more lines`] : [])].join("\n");
}

/** Prints what the user needs to decide to the error stream; standard output is for results. */
export function showPlan(terminal: Terminal, plan: InstallPlan, options: { diff?: boolean | undefined } = {}): void {
  const files = plan.files.slice(0, MAX_FILES).map(plain).join(", ");
  const more = plan.files.length > MAX_FILES ? ` and ${plan.files.length - MAX_FILES} more` : "";
  const lines = [
    wrapped(
      terminal,
      `${terminal.style("bold", plan.name)}${plan.version ? ` ${plain(plan.version)}` : ""}  ${plain(plan.description)}`,
      "  ",
    ),
    `  from     ${plain(plan.identifier)} (${[...new Set([plan.source, plan.trust])].join(", ")})`,
    `  files    ${files}${more} (${formatBytes(plan.bytes)})`,
    ...(plan.needs.length > 0 ? [`  needs    ${plain(plan.needs.join(", "))}`] : []),
    ...plan.hints.map((hint) => wrapped(terminal, `  hint     ${plain(hint)}`, "           ")),
    `  verdict  ${verdictText(terminal, plan.verdict)}`,
    ...findingLines(terminal, plan.findings),
    ...(plan.changes.length > 0 ? ["Changes to the one that is installed:", ...changeLines(plan.changes)] : []),
    ...(plan.edited ? [`You edited it: ${plain(plan.edits.join(", ")) || "its files"}`] : []),
  ];
  if (plan.trust === "community")
    lines.push(
      "This skill is not from a trusted source, and the guard cannot detect every attack:",
      "read it before you use it.",
    );
  terminal.err(lines.join("\n"));
  if (options.diff) terminal.err(patchText(plan.changes));
}
