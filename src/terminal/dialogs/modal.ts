// A dialog on the conversation screen: it takes the keys until it is closed.
import type { Picture } from "../screen/driver.ts";
import type { Key } from "../screen/keys.ts";
import type { Paint } from "../screen/paint.ts";

export interface ModalSpace {
  readonly width: number;
  /** Rows that the dialog may use. */
  readonly rows: number;
  readonly now: number;
}

export interface Modal {
  render(space: ModalSpace): Picture;
  /** Returns false for text that is no answer here: it goes to the draft. */
  key(key: Key): boolean;
  paste(text: string): boolean;
  /** The terminal is closed, or the question was withdrawn. */
  cancel(): void;
  /** Shows a countdown: it is redrawn every second. */
  readonly ticks?: boolean | undefined;
}

/** What dialogs need of the screen. */
export interface DialogHost {
  readonly paint: Paint;
  now(): number;
  /** When the user last pressed a key. */
  readonly lastInput: number;
  redraw(): void;
}

/** The first row to show so that the selected one is visible. */
export function scrollTo(selected: number, from: number, rows: number): number {
  if (selected < from) return selected;
  return selected >= from + rows ? selected - rows + 1 : from;
}

/** The time left, for the line with the keys. */
export function countdown(until: number | undefined, now: number): string {
  return until === undefined ? "" : ` · ${Math.max(0, Math.ceil((until - now) / 1000))} s`;
}
