// The driver against a terminal emulator: whatever is drawn, the emulator shows the wanted lines.
import headless from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ScreenDriver } from "./driver.ts";

interface Emulated {
  readonly driver: ScreenDriver;
  readonly raw: string[];
  lines(): Promise<string[]>;
  cursor(): Promise<{ x: number; y: number }>;
  resize(columns: number, rows: number): Promise<void>;
}

function emulated(columns: number, rows: number): Emulated {
  const terminal = new headless.Terminal({ cols: columns, rows, scrollback: 50_000, allowProposedApi: true });
  const raw: string[] = [];
  const output = {
    columns,
    rows,
    write: (bytes: string) => {
      raw.push(bytes);
      terminal.write(bytes);
    },
  };
  const driver = new ScreenDriver(output, { reflows: true });
  driver.start();
  const settled = () => new Promise<void>((resolve) => terminal.write("", resolve));
  return {
    driver,
    raw,
    resize: async (cols, count) => {
      await settled();
      terminal.resize(cols, count);
      output.columns = cols;
      output.rows = count;
    },
    lines: async () => {
      await settled();
      const { active } = terminal.buffer;
      const lines: string[] = [];
      for (let row = 0; row < active.length; row++) lines.push(active.getLine(row)?.translateToString(true) ?? "");
      while (lines.at(-1) === "") lines.pop();
      return lines;
    },
    cursor: async () => {
      await settled();
      const { active } = terminal.buffer;
      return { x: active.cursorX, y: active.cursorY + active.baseY };
    },
  };
}

// Built from strings because the linter refuses control characters in regular expressions.
const ESC = String.fromCharCode(27);
const STYLES = new RegExp(`${ESC}\\[\\d+m`, "g");

const trimmed = (lines: readonly string[]) => {
  const copy = lines.map((line) => line.trimEnd());
  while (copy.at(-1) === "") copy.pop();
  return copy;
};

test("any sequence of pictures and settled lines leaves the right screen", async () => {
  const line = fc.constantFrom("", "a", "two words", "x".repeat(20), "日本語テキスト", "\u001b[31mred\u001b[39m");
  const picture = fc.record({
    lines: fc.array(line, { minLength: 1, maxLength: 6 }),
    settled: fc.array(line, { maxLength: 4 }),
    row: fc.nat(5),
    hidden: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(picture, { minLength: 1, maxLength: 12 }), async (steps) => {
      const screen = emulated(20, 8);
      const settled: string[] = [];
      for (const step of steps) {
        const row = Math.min(step.row, step.lines.length - 1);
        screen.driver.draw({ lines: step.lines, cursor: step.hidden ? null : { row, column: 1 } }, step.settled);
        settled.push(...step.settled);
        const plain = [...settled, ...step.lines].map((text) => text.replaceAll(STYLES, ""));
        expect(trimmed(await screen.lines())).toEqual(trimmed(plain));
        if (!step.hidden) expect(await screen.cursor()).toEqual({ x: 1, y: settled.length + row });
      }
    }),
    { numRuns: 60 },
  );
});

test("unchanged lines are not written again", () => {
  const screen = emulated(40, 10);
  screen.driver.draw({ lines: ["one", "two", "three"], cursor: { row: 2, column: 0 } });
  const before = screen.raw.length;
  screen.driver.draw({ lines: ["one", "two!", "three"], cursor: { row: 2, column: 0 } });
  const written = screen.raw.slice(before).join("");
  expect(written).toContain("two!");
  expect(written).not.toContain("one");
  expect(written).not.toContain("three");
  screen.driver.draw({ lines: ["one", "two!", "three"], cursor: { row: 2, column: 0 } });
  expect(screen.raw.length).toBe(before + 1);
});

test("200 resizes leave each settled line once and never clear the screen", async () => {
  const screen = emulated(80, 24);
  const wrap = (columns: number) => [`${"─".repeat(columns)}`, "❯ a draft", "status line of the program"];
  const settled = Array.from({ length: 30 }, (_, index) => `settled line ${index} end`);
  screen.driver.draw({ lines: wrap(80), cursor: { row: 1, column: 9 } }, settled);
  let state = 7;
  for (let round = 0; round < 200; round++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const columns = 30 + (state % 90);
    await screen.resize(columns, 10 + (state % 30));
    const more = round % 10 === 0 ? [`line of round ${round} end`] : [];
    settled.push(...more);
    screen.driver.draw({ lines: wrap(columns), cursor: { row: 1, column: 9 } }, more);
  }
  const lines = await screen.lines();
  for (const line of settled) expect(lines.filter((shown) => shown === line)).toHaveLength(1);
  expect(lines.filter((line) => line.startsWith("❯ a draft"))).toHaveLength(1);
  expect(screen.raw.join("")).not.toMatch(new RegExp(`${ESC}\\[[23]J|${ESC}c`));
});

test("a frame that is taller than the window shows its end", async () => {
  const screen = emulated(20, 5);
  const lines = Array.from({ length: 9 }, (_, index) => `line ${index}`);
  screen.driver.draw({ lines, cursor: { row: 8, column: 0 } });
  screen.driver.draw({ lines: [...lines.slice(0, 8), "changed"], cursor: { row: 8, column: 0 } });
  expect(await screen.lines()).toEqual(["line 4", "line 5", "line 6", "line 7", "changed"]);
});

test("stopping restores the modes and leaves the cursor below the output", async () => {
  const screen = emulated(20, 6);
  screen.driver.draw({ lines: ["live"], cursor: null }, ["settled"]);
  screen.driver.stop();
  expect(await screen.lines()).toEqual(["settled"]);
  expect(await screen.cursor()).toEqual({ x: 0, y: 1 });
  expect(screen.raw.join("")).toMatch(new RegExp(`${ESC}\\[\\?7h${ESC}\\[\\?25h$`));
});
