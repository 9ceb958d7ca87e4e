// The picker: filter as you type, descriptions, a preview of the selected entry, several choices, action keys.
import type { Choice, ChoiceAction } from "../../core/chat/command.ts";
import { plainLineText } from "../../lib/terminal/styled-line.ts";
import { fuzzyFilter } from "../../lib/text/fuzzy.ts";
import { displayWidth, fitToWidth, padToWidth } from "../../lib/text/text-width.ts";
import { wrapWords } from "../../lib/text/wrap-words.ts";
import type { Picture } from "../screen/driver.ts";
import type { Key } from "../screen/keys.ts";
import { type DialogHost, type Modal, type ModalSpace, scrollTo } from "./modal.ts";

export interface PickerQuestion {
  readonly title: string;
  readonly choices: readonly Choice[];
  readonly multiple: boolean;
  readonly actions: readonly ChoiceAction[];
}

export type PickerAnswer =
  | { readonly type: "chosen"; readonly values: readonly string[] }
  | { readonly type: "action"; readonly action: ChoiceAction; readonly choice: Choice }
  | null;

const MAX_ROWS = 12;
const PREVIEW_ROWS = 6;
const MAX_LABEL = 44;

const STEPS: { readonly [key: string]: number } = {
  up: -1,
  down: 1,
  "ctrl+p": -1,
  "ctrl+n": 1,
  pageUp: 1 - MAX_ROWS,
  pageDown: MAX_ROWS - 1,
  home: Number.NEGATIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
};

export class Picker implements Modal {
  readonly #host: DialogHost;
  readonly #question: PickerQuestion;
  readonly #done: (answer: PickerAnswer) => void;
  #filter = "";
  #found: readonly Choice[];
  #selected: number;
  #from = 0;
  readonly #marked: Set<string>;
  readonly #details = new Map<string, string>();

  constructor(host: DialogHost, question: PickerQuestion, done: (answer: PickerAnswer) => void) {
    this.#host = host;
    this.#question = question;
    this.#done = done;
    this.#found = question.choices;
    this.#selected = question.multiple
      ? 0
      : Math.max(
          0,
          question.choices.findIndex((choice) => choice.current),
        );
    this.#marked = new Set(question.choices.filter((choice) => choice.current).map((choice) => choice.value));
    this.#loadDetail();
  }

  cancel(): void {
    this.#done(null);
  }

  paste(text: string): boolean {
    this.#search(this.#filter + plainLineText(text.slice(0, 200)));
    return true;
  }

  key(key: Key): boolean {
    const action = this.#question.actions.find(({ key: letter }) => key.name === `ctrl+${letter.toLowerCase()}`);
    const choice = this.#found[this.#selected];
    if (action && choice) this.#done({ type: "action", action, choice });
    else if (key.text === " " && this.#question.multiple) this.#toggle();
    else if (key.text !== "") this.#search(this.#filter + key.text);
    else this.#command(key.name);
    return true;
  }

  #command(name: string): void {
    const step = STEPS[name];
    if (step !== undefined) this.#select(this.#selected + step, Math.abs(step) === 1);
    else if (name === "escape" && this.#filter !== "") this.#search("");
    else if (name === "escape" || name === "ctrl+c" || name === "ctrl+d") this.#done(null);
    else if (name === "backspace") this.#search([...this.#filter].slice(0, -1).join(""));
    else if (name === "ctrl+u") this.#search("");
    else if (name === "tab" && this.#question.multiple) this.#toggle();
    else if (name === "enter") this.#accept();
  }

  #accept(): void {
    const choice = this.#found[this.#selected];
    if (this.#question.multiple) {
      const values = this.#question.choices.map(({ value }) => value).filter((value) => this.#marked.has(value));
      this.#done({ type: "chosen", values });
    } else if (choice) this.#done({ type: "chosen", values: [choice.value] });
  }

  #toggle(): void {
    const choice = this.#found[this.#selected];
    if (!choice) return;
    if (!this.#marked.delete(choice.value)) this.#marked.add(choice.value);
    this.#select(this.#selected + 1, false);
  }

  #select(index: number, wraps: boolean): void {
    const last = this.#found.length - 1;
    const around = index < 0 ? last : index > last ? 0 : index;
    this.#selected = Math.max(0, wraps ? around : Math.min(last, Math.max(0, index)));
    this.#loadDetail();
  }

  #search(filter: string): void {
    this.#filter = filter;
    const key = (choice: Choice) => `${choice.label} ${choice.description ?? ""}`;
    this.#found = fuzzyFilter(filter, this.#question.choices, { limit: this.#question.choices.length, key });
    this.#selected = 0;
    this.#from = 0;
    this.#loadDetail();
  }

  #loadDetail(): void {
    const choice = this.#found[this.#selected];
    if (!choice || choice.detail === undefined || this.#details.has(choice.value)) return;
    const { detail, value } = choice;
    if (typeof detail === "string") {
      this.#details.set(value, detail);
      return;
    }
    this.#details.set(value, "…");
    const show = (text: string) => {
      this.#details.set(value, text);
      this.#host.redraw();
    };
    detail().then(show, () => show("(no preview)"));
  }

  #mark(choice: Choice): string {
    if (this.#question.multiple) return this.#marked.has(choice.value) ? "[x] " : "[ ] ";
    return choice.current ? "● " : "  ";
  }

  #row(choice: Choice, here: boolean, widths: { readonly label: number; readonly all: number }): string {
    const { paint } = this.#host;
    const label = padToWidth(fitToWidth(plainLineText(choice.label), widths.label), widths.label);
    const head = `${here ? "❯" : " "} ${this.#mark(choice)}${label}`;
    const rest = widths.all - displayWidth(head) - 2;
    const described = rest > 8 && choice.description ? `  ${fitToWidth(plainLineText(choice.description), rest)}` : "";
    return here ? paint("selected", head + described) : head + paint("dim", described);
  }

  #preview(width: number, rows: number): string[] {
    const choice = this.#found[this.#selected];
    const text = choice ? this.#details.get(choice.value) : undefined;
    if (text === undefined || text === "" || rows < 2) return [];
    const { paint } = this.#host;
    const lines = text.split("\n").flatMap((line) => wrapWords(plainLineText(line), width - 4).split("\n"));
    return lines.slice(0, rows).map((line) => `${paint("border", "  │")} ${fitToWidth(line, width - 4)}`);
  }

  #list(width: number, rows: number): string[] {
    const count = Math.max(1, Math.min(MAX_ROWS, rows, this.#found.length));
    this.#from = scrollTo(this.#selected, Math.min(this.#from, Math.max(0, this.#found.length - count)), count);
    const shown = this.#found.slice(this.#from, this.#from + count);
    const widest = Math.max(8, ...shown.map(({ label }) => displayWidth(label)));
    const widths = { label: Math.min(Math.max(10, Math.floor(width * 0.6)), MAX_LABEL, widest), all: width };
    const list = shown.map((choice, index) => this.#row(choice, index + this.#from === this.#selected, widths));
    return list.length > 0 ? list : [this.#host.paint("dim", "  nothing matches")];
  }

  render({ width, rows }: ModalSpace): Picture {
    const { paint } = this.#host;
    const { title, multiple, actions, choices } = this.#question;
    const preview = rows > 12 ? this.#preview(width, PREVIEW_ROWS) : [];
    const keys = [
      multiple ? "Space marks, Enter applies" : "Enter chooses",
      ...actions.map(({ key, label }) => `Ctrl-${key.toUpperCase()} ${label}`),
      "Esc closes",
    ].join(" · ");
    const count = this.#filter === "" ? `${choices.length}` : `${this.#found.length} of ${choices.length}`;
    return {
      lines: [
        `${paint("title", fitToWidth(plainLineText(title), width - 16))} ${paint("dim", `(${count})`)}`,
        `${paint("prompt", "  ⌕ ")}${fitToWidth(this.#filter, width - 6)}`,
        ...this.#list(width, rows - 3 - preview.length),
        ...preview,
        paint("dim", fitToWidth(`  ${keys}`, width)),
      ],
      cursor: { row: 1, column: Math.min(width - 1, 4 + displayWidth(this.#filter)) },
    };
  }
}
