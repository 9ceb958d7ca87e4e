// The screen driver: settled lines go to the terminal's scrollback once; only the lines below them are redrawn.
import { styledLine } from "../../lib/terminal/styled-line.ts";
import {
  type CursorPlace,
  diffFrames,
  type Frame,
  redrawAfterResize,
  restingRow,
  rowsAboveCursor,
  settleLines,
} from "./frame.ts";

export interface ScreenOutput {
  write(bytes: string): unknown;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

export interface DriverOptions {
  /** The terminal breaks lines that became too long when it gets narrower. */
  readonly reflows: boolean;
}

const BEGIN_UPDATE = "\u001b[?2026h";
const END_UPDATE = "\u001b[?2026l";
const WRAP_OFF = "\u001b[?7l";
const WRAP_ON = "\u001b[?7h";
const SHOW_CURSOR = "\u001b[?25h";
const MIN_COLUMNS = 10;
const MIN_ROWS = 3;

/** Lines to show and the place of the cursor in them; null hides it. */
export interface Picture {
  readonly lines: readonly string[];
  readonly cursor: CursorPlace | null;
}

export class ScreenDriver {
  readonly #output: ScreenOutput;
  readonly #reflows: boolean;
  #frame: Frame;
  #size: { columns: number; rows: number };
  #active = false;
  #stale = false;
  /** The terminal confirmed that it supports synchronized output. */
  synchronized = false;

  constructor(output: ScreenOutput, options: DriverOptions) {
    this.#output = output;
    this.#reflows = options.reflows;
    this.#size = this.size;
    this.#frame = this.#empty();
  }

  get size(): { columns: number; rows: number } {
    return {
      columns: Math.max(MIN_COLUMNS, this.#output.columns || 80),
      rows: Math.max(MIN_ROWS, this.#output.rows || 24),
    };
  }

  #empty(): Frame {
    return { lines: [], cursor: { row: 0, column: 0 }, columns: this.#size.columns };
  }

  /** Begins at the cursor's line. Lines that are too long are cut by the terminal instead of breaking. */
  start(): void {
    this.#active = true;
    this.#size = this.size;
    this.#frame = this.#empty();
    this.#output.write(WRAP_OFF);
  }

  /** Leaves the cursor below everything and restores the modes. `keep` leaves the live lines on the screen. */
  stop(keep = false): void {
    if (!this.#active) return;
    this.#active = false;
    const last = Math.max(0, this.#frame.lines.length - 1);
    const down = last - restingRow(this.#frame);
    const leave = keep
      ? `${down > 0 ? `\u001b[${down}B` : ""}${this.#frame.lines.length > 0 ? "\r\n" : ""}`
      : diffFrames(this.#frame, this.#empty());
    this.#output.write(`${leave}${WRAP_ON}${SHOW_CURSOR}`);
    this.#frame = this.#empty();
  }

  /** Draws the picture; `settled` lines are written above it and never touched again. */
  draw(picture: Picture, settled: readonly string[] = []): void {
    if (!this.#active) return;
    const { columns, rows } = this.size;
    const resized = columns !== this.#size.columns;
    this.#size = { columns, rows };
    const frame = clip({ ...picture, columns }, rows);
    const before = this.#frame;
    this.#frame = frame;
    let bytes: string;
    if (resized || this.#stale) {
      this.#stale = false;
      const above = this.#reflows ? rowsAboveCursor(before, columns) : restingRow(before);
      const empty: Frame = { lines: [], cursor: before.cursor && { row: 0, column: 0 }, columns };
      bytes =
        settled.length > 0
          ? `${redrawAfterResize(above, before, empty)}${settleLines(empty, settled.map(styledLine), frame)}`
          : redrawAfterResize(above, before, frame);
    } else if (settled.length > 0) bytes = settleLines(before, settled.map(styledLine), frame);
    else bytes = diffFrames(before, frame);
    if (bytes === "") return;
    this.#output.write(this.synchronized ? `${BEGIN_UPDATE}${bytes}${END_UPDATE}` : bytes);
  }

  /** The next drawing writes every line. */
  invalidate(): void {
    this.#stale = true;
  }

  /** Writes bytes that draw nothing: a bell, a mode, a request to the clipboard. */
  control(bytes: string): void {
    if (this.#active) this.#output.write(bytes);
  }
}

/** The last rows that fit the window, safe to write. */
function clip({ lines, cursor, columns }: Frame, rows: number): Frame {
  const cut = Math.max(0, lines.length - rows);
  const kept = (cut === 0 ? lines : lines.slice(cut)).map(styledLine);
  if (!cursor) return { lines: kept, cursor, columns };
  return {
    lines: kept,
    cursor: { row: Math.max(0, cursor.row - cut), column: Math.min(cursor.column, columns - 1) },
    columns,
  };
}
