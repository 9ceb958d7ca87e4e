// Prints results with their budgets, and decides whether a budget was met.

export interface Line {
  readonly what: string;
  readonly ours: string;
  readonly raw: string;
  readonly ratio: number | undefined;
  /** `max`: the ratio may not be above; `min`: not below. */
  readonly budget?: { readonly kind: "max" | "min"; readonly ratio: number };
  /** A budget that is not a ratio: its text, and whether it was met. */
  readonly absolute?: { readonly text: string; readonly met: boolean };
}

function passes(line: Line): boolean | undefined {
  if (line.absolute) return line.absolute.met;
  if (!line.budget || line.ratio === undefined) return undefined;
  return line.budget.kind === "max" ? line.ratio <= line.budget.ratio : line.ratio >= line.budget.ratio;
}

function budgetText(line: Line): string {
  if (line.absolute) return line.absolute.text;
  if (!line.budget) return "";
  return `${line.budget.kind === "max" ? "≤" : "≥"} ${line.budget.ratio}`;
}

/** Returns the number of missed budgets. */
export function printTable(title: string, lines: readonly Line[]): number {
  const verdict = (line: Line) => ({ true: "pass", false: "FAIL", undefined: "" })[String(passes(line))] ?? "";
  const rows = lines.map((line) => [
    line.what,
    line.ours,
    line.raw,
    line.ratio === undefined ? "" : line.ratio.toFixed(2),
    budgetText(line),
    verdict(line),
  ]);
  const head = ["", "hermes", "raw", "ratio", "budget", ""];
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)));
  console.log(`\n${title}`);
  for (const row of [head, ...rows]) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(cells.join("  ").trimEnd());
  }
  return lines.filter((line) => passes(line) === false).length;
}
