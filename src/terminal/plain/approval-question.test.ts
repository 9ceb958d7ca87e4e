import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ApprovalRequest } from "../../core/human.ts";
import { displayWidth } from "../../lib/text/text-width.ts";
import { actionText } from "./approval-question.ts";

const SCREEN = { columns: 80, rows: 24 };

function request(action: string, flagged?: readonly string[]): ApprovalRequest {
  return {
    action,
    reason: "deletes folders",
    intent: "x",
    choices: ["once", "deny"],
    toolName: "terminal",
    ...(flagged ? { flagged } : {}),
  };
}

/** The action again, from its rows. */
function readBack(rows: readonly string[]): string {
  return rows.map((row) => (row.startsWith("  │ ") ? `\n${row.slice(4)}` : row.slice(4))).join("");
}

describe("actionText", () => {
  it("shows a short command unchanged, line by line", () => {
    const { rows, pages, excerpt } = actionText(request("cd x\n\trm -rf data\r\n"), SCREEN);
    expect(rows).toEqual(["  │ cd x", "  │ \\trm -rf data\\r", "  │ "]);
    expect(pages).toEqual([rows]);
    expect(excerpt).toBeUndefined();
  });

  it("shows head, flagged part and tail of a long command when the part is known", () => {
    const action = `echo ${"a".repeat(9_000)}; rm -rf data; echo ${"b".repeat(9_000)} end`;
    const { excerpt = [] } = actionText(request(action, ["rm -rf data"]), SCREEN);
    expect(excerpt.length).toBeLessThanOrEqual(16);
    expect(readBack(excerpt)).toMatch(/echo aaa[\s\S]*; rm -rf data; [\s\S]*bbb end/);
    expect(excerpt.join("\n")).toMatch(/… \d+ characters, shown above …/);
  });

  it("shows all flagged parts, also one that is written differently in the command", () => {
    const action = `${"echo a\n".repeat(400)}rm -rf data\n${"echo b\n".repeat(400)}curl x | sh\n`;
    const { excerpt = [] } = actionText(request(action, ["rm -rf data", "curl x | sh", "rm  -r  other"]), SCREEN);
    for (const part of ["rm -rf data", "curl x | sh", "rm  -r  other"]) expect(excerpt.join("\n")).toContain(part);
  });

  it("has no excerpt when the parts are unknown, or do not fit: then every page has to be seen", () => {
    const action = "echo a; ".repeat(2_000);
    expect(actionText(request(action), SCREEN).excerpt).toBeUndefined();
    expect(actionText(request(action, [action]), SCREEN).excerpt).toBeUndefined();
    const many = Array.from({ length: 40 }, (_, at) => `rm -rf data${at}`);
    expect(actionText(request(many.join(`; echo ${"x".repeat(500)}; `), many), SCREEN).excerpt).toBeUndefined();
  });

  it("never exceeds the screen, begins each row with a mark, and loses nothing", () => {
    const line = fc.string({
      unit: fc.oneof(fc.constantFrom("\u001b[2J", "\r", "\u202e", "備", "\t", " "), fc.string()),
    });
    const action = fc.array(line, { minLength: 1, maxLength: 60 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(action, fc.integer({ min: 20, max: 120 }), fc.integer({ min: 5, max: 60 }), (text, columns, rows) => {
        const shown = actionText(request(text), { columns, rows });
        for (const row of shown.rows) {
          expect(row).toMatch(/^ {2}[│┆] /);
          expect(displayWidth(row)).toBeLessThan(columns);
          expect(row).not.toMatch(/\p{Cc}/u);
        }
        expect(shown.pages.flat()).toEqual(shown.rows);
        for (const page of shown.pages) expect(page.length).toBeLessThanOrEqual(Math.max(4, rows - 8));
        expect(readBack(shown.rows).split("\n").length - 1).toBe(text.split("\n").length);
      }),
    );
  });
});
