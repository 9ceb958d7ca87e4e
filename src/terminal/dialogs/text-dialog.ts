// A question that is answered with text: a clarification, or a secret that is never shown.

import { displayWidth, fitToWidth } from "../../lib/text/text-width.ts";
import { wrapWords } from "../../lib/text/wrap-words.ts";
import { editingKey } from "../composer/editing-keys.ts";
import { layoutText } from "../composer/layout.ts";
import { TextBuffer } from "../composer/text-buffer.ts";
import type { Picture } from "../screen/driver.ts";
import type { Key } from "../screen/keys.ts";
import { countdown, type DialogHost, type Modal, type ModalSpace } from "./modal.ts";
import { TypingGuard } from "./typing-guard.ts";

export interface TextQuestion {
  /** Safe to draw; may have several lines. */
  readonly heading: string;
  readonly secret: boolean;
  readonly until?: number | undefined;
  readonly cancelLabel: string;
}

const MAX_DOTS = 40;

export class TextDialog implements Modal {
  readonly #host: DialogHost;
  readonly #question: TextQuestion;
  readonly #done: (text: string | null) => void;
  readonly #guard: TypingGuard;
  readonly #buffer = new TextBuffer();
  #secret = "";

  constructor(host: DialogHost, question: TextQuestion, done: (text: string | null) => void) {
    this.#host = host;
    this.#question = question;
    this.#done = done;
    this.#guard = new TypingGuard(host.now(), host.lastInput);
  }

  get ticks(): boolean {
    return this.#question.until !== undefined;
  }

  cancel(): void {
    this.#done(null);
  }

  paste(text: string): boolean {
    if (this.#guard.blocks(this.#host.now())) return false;
    if (this.#question.secret) this.#secret += text.replaceAll(/[\r\n]+$/g, "");
    else this.#buffer.paste(text);
    return true;
  }

  key(key: Key): boolean {
    if (key.name === "ctrl+c") {
      this.cancel();
      return true;
    }
    if (this.#guard.blocks(this.#host.now())) {
      if (key.text !== "") this.#guard.typed(this.#host.now());
      return key.text === "";
    }
    if (key.name === "escape") this.cancel();
    else if (key.name === "enter") this.#done(this.#question.secret ? this.#secret : this.#buffer.typedLine.text);
    else if (this.#question.secret) this.#secretKey(key);
    else if (key.text !== "") this.#buffer.type(key.text);
    else editingKey(this.#buffer, key.name);
    return true;
  }

  #secretKey(key: Key): void {
    if (key.text !== "") this.#secret += key.text;
    else if (key.name === "backspace") this.#secret = [...this.#secret].slice(0, -1).join("");
    else if (key.name === "ctrl+u") this.#secret = "";
  }

  #input(width: number): Picture {
    if (this.#question.secret) {
      const dots = "•".repeat(Math.min(MAX_DOTS, width - 2, [...this.#secret].length));
      return { lines: [dots], cursor: { row: 0, column: displayWidth(dots) } };
    }
    const { text, cursor, isLabel } = this.#buffer;
    const { rows, cursorRow, cursorColumn } = layoutText(text, cursor, { width, isLabel });
    return { lines: rows.map((row) => row.text), cursor: { row: cursorRow, column: cursorColumn } };
  }

  render({ width, now }: ModalSpace): Picture {
    const { paint } = this.#host;
    const { heading, secret, until, cancelLabel } = this.#question;
    const head = wrapWords(heading, width - 2).split("\n");
    const input = this.#input(width - 4);
    const keys = `Enter sends${secret ? "; it is not shown and not stored" : ""} · Esc ${cancelLabel}`;
    return {
      lines: [
        ...head.map((line, at) => paint("accent", fitToWidth(`${at === 0 ? "? " : "  "}${line}`, width))),
        ...input.lines.map((text, at) => `${at === 0 ? paint("prompt", "  ❯ ") : "    "}${text}`),
        paint("dim", fitToWidth(`  ${keys}${countdown(until, now)}`, width)),
      ],
      cursor: { row: head.length + (input.cursor?.row ?? 0), column: (input.cursor?.column ?? 0) + 4 },
    };
  }
}
