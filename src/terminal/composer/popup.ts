// The list of completions below the composer.
import { plainLineText } from "../../lib/terminal/styled-line.ts";
import { displayWidth, fitToWidth, padToWidth } from "../../lib/text/text-width.ts";
import { scrollTo } from "../dialogs/modal.ts";
import type { Paint } from "../screen/paint.ts";
import type { Completion, CompletionItem } from "./completion.ts";

const MAX_ROWS = 8;

export class Popup {
  readonly completion: Completion;
  #selected = 0;
  #from = 0;
  /** The user has moved in the list. */
  moved = false;

  constructor(completion: Completion) {
    this.completion = completion;
  }

  get item(): CompletionItem | undefined {
    return this.completion.items[this.#selected];
  }

  move(by: number): void {
    const count = this.completion.items.length;
    this.#selected = (this.#selected + by + count) % count;
    this.moved = true;
  }

  render(width: number, rows: number, paint: Paint): string[] {
    const { items } = this.completion;
    const count = Math.max(1, Math.min(MAX_ROWS, rows, items.length));
    this.#from = scrollTo(this.#selected, this.#from, count);
    const shown = items.slice(this.#from, this.#from + count);
    const widest = Math.max(...shown.map(({ label }) => displayWidth(label)));
    const labelWidth = Math.min(widest, Math.max(12, Math.floor(width * 0.55)));
    return shown.map((item, index) => {
      const here = index + this.#from === this.#selected;
      const label = padToWidth(fitToWidth(plainLineText(item.label), labelWidth), labelWidth);
      const rest = width - labelWidth - 6;
      const about = item.description && rest > 8 ? `  ${fitToWidth(plainLineText(item.description), rest)}` : "";
      return here ? paint("selected", `  ${label}${about}`) : `  ${label}${paint("dim", about)}`;
    });
  }
}
