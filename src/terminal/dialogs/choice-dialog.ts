// A question with a few answers: chosen with arrow keys and Enter, or with a digit; never by typed text.
import { fitToWidth } from "../../lib/text/text-width.ts";
import type { Picture } from "../screen/driver.ts";
import type { Key } from "../screen/keys.ts";
import { type ActionRow, actionRows } from "./action-rows.ts";
import { countdown, type DialogHost, type Modal, type ModalSpace } from "./modal.ts";
import { TypingGuard } from "./typing-guard.ts";

export interface ChoiceQuestion {
  /** One line, safe to draw. */
  readonly heading: string;
  /** The text that the decision is about; shown completely. */
  readonly body: string;
  readonly flagged?: readonly string[] | undefined;
  /** `needsAll`: may be chosen only after the whole body was shown. */
  readonly choices: readonly { readonly label: string; readonly needsAll?: boolean | undefined }[];
  /** When the time to answer ends. */
  readonly until?: number | undefined;
  /** What Escape means, for the line with the keys. */
  readonly cancelLabel: string;
  readonly role: "warn" | "accent";
}

/** A digit counts when nothing follows it for this long: a sentence may begin with a digit. */
const DIGIT_MS = 300;
const INDENT = "  ";

export class ChoiceDialog implements Modal {
  readonly #host: DialogHost;
  readonly #question: ChoiceQuestion;
  readonly #done: (index: number | null) => void;
  readonly #guard: TypingGuard;
  #selected = -1;
  #scroll = 0;
  /** Rows of the body that fit, and all of them, in the last drawing. */
  #shown = { rows: 0, all: 0 };
  #seenAll = false;
  #hint = "";
  #digit: NodeJS.Timeout | undefined;

  constructor(host: DialogHost, question: ChoiceQuestion, done: (index: number | null) => void) {
    this.#host = host;
    this.#question = question;
    this.#guard = new TypingGuard(host.now(), host.lastInput);
    this.#done = (index) => {
      clearTimeout(this.#digit);
      done(index);
    };
  }

  get ticks(): boolean {
    return this.#question.until !== undefined;
  }

  cancel(): void {
    this.#done(null);
  }

  paste(): boolean {
    this.#hint = "pasted text is no answer; it goes to your draft";
    this.#guard.typed(this.#host.now());
    return false;
  }

  key(key: Key): boolean {
    clearTimeout(this.#digit);
    const blocked = this.#guard.blocks(this.#host.now());
    if (key.name === "ctrl+c" || (key.name === "escape" && !blocked)) {
      this.#done(null);
      return true;
    }
    if (blocked) return this.#notYet(key);
    if (key.text !== "") return this.#text(key.text);
    this.#command(key.name);
    return true;
  }

  /** The user is still typing something else. */
  #notYet(key: Key): boolean {
    if (key.text === "") return true;
    this.#guard.typed(this.#host.now());
    this.#hint = "typed text goes to your draft";
    return false;
  }

  #text(text: string): boolean {
    const index = /^[1-9]$/.test(text) ? Number(text) - 1 : -1;
    if (index >= 0 && index < this.#question.choices.length) {
      this.#selected = index;
      this.#digit = setTimeout(() => this.#choose(), DIGIT_MS);
      return true;
    }
    if (text === " ") {
      this.#page(1);
      return true;
    }
    this.#selected = -1;
    this.#guard.typed(this.#host.now());
    this.#hint = "choose with the arrow keys or a digit; typed text goes to your draft";
    return false;
  }

  #command(name: string): void {
    const last = this.#question.choices.length - 1;
    this.#hint = "";
    if (name === "down" || name === "ctrl+n" || name === "tab")
      this.#selected = this.#selected >= last ? 0 : this.#selected + 1;
    else if (name === "up" || name === "ctrl+p" || name === "shift+tab")
      this.#selected = this.#selected <= 0 ? last : this.#selected - 1;
    else if (name === "pageDown" || name === "ctrl+f") this.#page(1);
    else if (name === "pageUp" || name === "ctrl+b") this.#page(-1);
    else if (name === "enter") this.#choose();
  }

  #page(by: number): void {
    const { rows, all } = this.#shown;
    this.#scroll = Math.max(0, Math.min(all - rows, this.#scroll + by * Math.max(1, rows - 1)));
  }

  #choose(): void {
    const choice = this.#question.choices[this.#selected];
    if (choice && !(choice.needsAll && !this.#seenAll)) {
      this.#done(this.#selected);
      return;
    }
    this.#hint = choice ? "there is more to see first: PgDn" : "choose with the arrow keys or a digit";
    this.#selected = -1;
    this.#host.redraw();
  }

  #bodyLine(row: ActionRow): string {
    const { paint } = this.#host;
    const text = row.pieces.map((piece) => (piece.flagged ? paint("error", piece.text) : piece.text)).join("");
    return `${INDENT}${paint("border", row.wrapped ? "┆" : "│")} ${text}`;
  }

  #body(width: number, room: number): string[] {
    const { body, flagged = [] } = this.#question;
    if (body === "") {
      this.#seenAll = true;
      return [];
    }
    const rows = actionRows(body, flagged, width - 5);
    const fits = rows.length <= room;
    const count = fits ? rows.length : Math.max(1, room - 1);
    this.#shown = { rows: count, all: rows.length };
    this.#scroll = Math.max(0, Math.min(this.#scroll, rows.length - count));
    if (this.#scroll + count >= rows.length) this.#seenAll = true;
    const lines = rows.slice(this.#scroll, this.#scroll + count).map((row) => this.#bodyLine(row));
    if (fits) return lines;
    const rest = rows.length - this.#scroll - count;
    const more = rest > 0 ? `${rest} more; PgDn shows them` : "PgUp shows the beginning";
    const place = `rows ${this.#scroll + 1}–${this.#scroll + count} of ${rows.length}: ${more}`;
    return [...lines, this.#host.paint("warn", `${INDENT}┊ ${place}`)];
  }

  render({ width, rows, now }: ModalSpace): Picture {
    const { paint } = this.#host;
    const { heading, choices, until, cancelLabel, role } = this.#question;
    const body = this.#body(width, Math.max(2, rows - choices.length - 4));
    const keys = `↑↓ and Enter, or 1–${choices.length} · Esc ${cancelLabel}${countdown(until, now)}`;
    const lines = [
      paint(role, fitToWidth(`${role === "warn" ? "⚠" : "?"} ${heading}`, width)),
      ...body,
      ...choices.map(({ label }, index) => {
        const here = index === this.#selected;
        const text = fitToWidth(`${here ? "❯" : " "} ${index + 1}. ${label}`, width - 2);
        return `${INDENT}${here ? paint("selected", text) : text}`;
      }),
      paint("dim", fitToWidth(`${INDENT}${keys}`, width)),
      ...(this.#hint === "" ? [] : [paint("warn", fitToWidth(`${INDENT}${this.#hint}`, width))]),
    ];
    return { lines, cursor: null };
  }
}
