// The text of the composer with its cursor: editing by graphemes, undo, a kill ring, and labels for pasted blocks.
import { pasteLabel, type TypedLine, withPastes } from "./typed-line.ts";
import { lineUnits, type Unit, wordEnd, wordStart } from "./units.ts";

interface Snapshot {
  readonly text: string;
  readonly cursor: number;
}

const MAX_UNDO = 300;
const MAX_KILLS = 30;
const KEPT_PASTES = 50;
/** Longer pasted text is shown as a label. */
const PLAIN_PASTE = 400;
const PLAIN_PASTE_LINES = 3;

type Action = "type" | "kill" | "yank" | "other";

export class TextBuffer {
  #text = "";
  #cursor = 0;
  #undo: Snapshot[] = [];
  #redo: Snapshot[] = [];
  readonly #kills: string[] = [];
  #last: Action = "other";
  /** The part that the last yank inserted. */
  #yanked: { from: number; index: number } | undefined;
  #pasteCount = 0;
  readonly #pastes = new Map<string, string>();

  get text(): string {
    return this.#text;
  }

  get cursor(): number {
    return this.#cursor;
  }

  get typedLine(): TypedLine {
    const text = this.#text;
    const pastes = new Map([...this.#pastes].filter(([label]) => text.includes(label)));
    return { text: withPastes(text, pastes), typed: text, pastes };
  }

  readonly isLabel = (label: string): boolean => this.#pastes.has(label);

  /** Start and end of the line that the cursor is in. */
  get line(): { readonly from: number; readonly to: number } {
    const from = this.#text.lastIndexOf("\n", this.#cursor - 1) + 1;
    const end = this.#text.indexOf("\n", this.#cursor);
    return { from, to: end < 0 ? this.#text.length : end };
  }

  #units(): Unit[] {
    const { from, to } = this.line;
    return lineUnits(this.#text.slice(from, to), this.isLabel).map(({ text, at }) => ({ text, at: at + from }));
  }

  #remember(action: Action): void {
    const typing = action === "type" && this.#last === "type";
    if (!typing) {
      this.#undo.push({ text: this.#text, cursor: this.#cursor });
      if (this.#undo.length > MAX_UNDO) this.#undo.shift();
    }
    this.#redo = [];
    this.#last = action;
  }

  #splice(from: number, to: number, text: string): void {
    this.#text = this.#text.slice(0, from) + text + this.#text.slice(to);
    this.#cursor = from + text.length;
  }

  /** Replaces the whole text as one undo step; the cursor is at the end. */
  set(text: string): void {
    if (text !== this.#text) this.#remember("other");
    this.#text = text;
    this.#cursor = text.length;
  }

  /** Empties the text without a way back, after it was sent. */
  reset(): void {
    this.#text = "";
    this.#cursor = 0;
    this.#undo = [];
    this.#redo = [];
    this.#last = "other";
    if (this.#pastes.size > KEPT_PASTES) {
      for (const label of [...this.#pastes.keys()].slice(0, -KEPT_PASTES)) this.#pastes.delete(label);
    }
  }

  /** Pasted blocks of a message from the history or of a draft that is put back. */
  addPastes(pastes: ReadonlyMap<string, string>): void {
    for (const [label, text] of pastes) this.#pastes.set(label, text);
  }

  type(text: string): void {
    this.#remember("type");
    this.#splice(this.#cursor, this.#cursor, text);
    // A blank ends the group that one undo removes.
    if (/\s$/u.test(text)) this.#last = "other";
  }

  replace(from: number, to: number, text: string): void {
    this.#remember("other");
    this.#splice(from, to, text);
  }

  /** Inserts pasted text: short text as it is, longer text as a label. */
  paste(text: string): void {
    const lines = text.split("\n", PLAIN_PASTE_LINES + 1).length;
    const plain = text.length <= PLAIN_PASTE && lines <= PLAIN_PASTE_LINES && !/(?!\n)\p{Cc}/u.test(text);
    if (plain) {
      this.replace(this.#cursor, this.#cursor, text);
      return;
    }
    this.#pasteCount += 1;
    const label = pasteLabel(text, this.#pasteCount);
    this.#pastes.set(label, text);
    this.replace(this.#cursor, this.#cursor, label);
  }

  #before(): number {
    const { from } = this.line;
    if (this.#cursor === from) return Math.max(0, from - 1);
    return this.#units().findLast((unit) => unit.at < this.#cursor)?.at ?? from;
  }

  #after(): number {
    const { to } = this.line;
    if (this.#cursor === to) return Math.min(this.#text.length, to + 1);
    return this.#units().find((unit) => unit.at > this.#cursor)?.at ?? to;
  }

  /** The position outside of labels that is nearest in this direction. */
  #outsideLabel(at: number, direction: "left" | "right"): number {
    for (const [label] of this.#pastes)
      for (let found = this.#text.indexOf(label); found >= 0; found = this.#text.indexOf(label, found + 1))
        if (at > found && at < found + label.length) return direction === "left" ? found : found + label.length;
    return at;
  }

  move(where: "left" | "right" | "wordLeft" | "wordRight" | "lineStart" | "lineEnd" | "textStart" | "textEnd"): void {
    this.#last = "other";
    this.#cursor = this.#target(where);
  }

  #target(where: Parameters<TextBuffer["move"]>[0]): number {
    switch (where) {
      case "left":
        return this.#before();
      case "right":
        return this.#after();
      case "wordLeft":
        return this.#outsideLabel(wordStart(this.#text, this.#cursor), "left");
      case "wordRight":
        return this.#outsideLabel(wordEnd(this.#text, this.#cursor), "right");
      case "lineStart":
        return this.line.from;
      case "lineEnd":
        return this.line.to;
      case "textStart":
        return 0;
      case "textEnd":
        return this.#text.length;
    }
  }

  moveTo(position: number): void {
    this.#last = "other";
    this.#cursor = this.#outsideLabel(Math.max(0, Math.min(position, this.#text.length)), "left");
  }

  erase(what: "left" | "right"): void {
    const [from, to] = what === "left" ? [this.#before(), this.#cursor] : [this.#cursor, this.#after()];
    if (from === to) return;
    this.#remember("other");
    this.#splice(from, to, "");
  }

  /** Removes text into the kill ring; kills in a row are joined. */
  kill(what: "wordLeft" | "wordRight" | "lineStart" | "lineEnd"): void {
    const target = this.#target(what);
    const atEdge = target === this.#cursor;
    const back = what === "wordLeft" || what === "lineStart";
    const from = back ? (atEdge ? Math.max(0, this.#cursor - 1) : target) : this.#cursor;
    const to = back ? this.#cursor : atEdge ? Math.min(this.#text.length, this.#cursor + 1) : target;
    if (from === to) return;
    const joined = this.#last === "kill";
    this.#remember("kill");
    const removed = this.#text.slice(from, to);
    const newest = joined ? (this.#kills.pop() ?? "") : "";
    this.#kills.push(back ? removed + newest : newest + removed);
    if (this.#kills.length > MAX_KILLS) this.#kills.shift();
    this.#splice(from, to, "");
  }

  yank(): void {
    const text = this.#kills.at(-1);
    if (text === undefined) return;
    this.#remember("yank");
    this.#yanked = { from: this.#cursor, index: this.#kills.length - 1 };
    this.#splice(this.#cursor, this.#cursor, text);
  }

  /** Replaces what was just yanked by the kill before it. */
  yankOlder(): void {
    if (this.#last !== "yank" || !this.#yanked || this.#kills.length < 2) return;
    const index = (this.#yanked.index - 1 + this.#kills.length) % this.#kills.length;
    const { from } = this.#yanked;
    this.#remember("yank");
    this.#splice(from, this.#cursor, this.#kills[index] ?? "");
    this.#yanked = { from, index };
  }

  undo(): void {
    this.#swap(this.#undo, this.#redo);
  }

  redo(): void {
    this.#swap(this.#redo, this.#undo);
  }

  #swap(from: Snapshot[], to: Snapshot[]): void {
    const snapshot = from.pop();
    if (!snapshot) return;
    to.push({ text: this.#text, cursor: this.#cursor });
    this.#text = snapshot.text;
    this.#cursor = snapshot.cursor;
    this.#last = "other";
  }
}
