// Draws lines in a VT emulator and reports what a user would see: the foreign judge of widths and styles.
import { createRequire } from "node:module";
import headless from "@xterm/headless";

// The module reads its tables from the start of a buffer's memory, which is wrong for pooled buffers.
Buffer.poolSize = 0;
const { UnicodeGraphemesAddon } = createRequire(import.meta.url)(
  "@xterm/addon-unicode-graphemes",
) as typeof import("@xterm/addon-unicode-graphemes");

export interface EmulatedLine {
  readonly text: string;
  /** Cells up to the last one that was written. */
  readonly cells: number;
  /** The line did not fit and continued on the next row. */
  readonly wrapped: boolean;
  /** Per cell: the foreground colour as a number, and the attributes that are set. */
  style(column: number): { readonly color: number; readonly bold: boolean; readonly underline: boolean };
}

/** Writes each line to a separate row in a terminal of the given width. Styles must not leak into the next row. */
export async function emulateLines(lines: readonly string[], columns: number): Promise<EmulatedLine[]> {
  const rows = Math.max(1, lines.length * 2 + 1);
  const terminal = new headless.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0 });
  terminal.loadAddon(new UnicodeGraphemesAddon() as never);
  const cursors: { row: number; column: number }[] = [];
  for (const line of lines) {
    await new Promise<void>((resolve) => terminal.write(line, resolve));
    const { cursorX, cursorY } = terminal.buffer.active;
    cursors.push({ row: cursorY, column: cursorX });
    await new Promise<void>((resolve) => terminal.write("\r\n", resolve));
  }
  const result = lines.map((_, index): EmulatedLine => {
    const end = cursors[index] ?? { row: 0, column: 0 };
    const start = index === 0 ? 0 : (cursors[index - 1]?.row ?? 0) + 1;
    const buffer = terminal.buffer.active.getLine(start);
    return {
      text: buffer?.translateToString(true) ?? "",
      cells: end.column,
      wrapped: end.row !== start,
      style: (column) => {
        const cell = buffer?.getCell(column);
        return {
          color: cell?.getFgColor() ?? -1,
          bold: Boolean(cell?.isBold()),
          underline: Boolean(cell?.isUnderline()),
        };
      },
    };
  });
  terminal.dispose();
  return result;
}
