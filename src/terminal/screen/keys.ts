// Splits terminal input into keys and names them: "ctrl+c", "alt+enter", "up", or the typed text.
import { decodePrintableKey, isKeyRelease, parseKey } from "@earendil-works/pi-tui/dist/keys.js";

export interface Key {
  /** Name of a key that is not text, for example "enter" or "ctrl+w"; empty for text. */
  readonly name: string;
  /** The typed text; empty for other keys. */
  readonly text: string;
  /** What the terminal sent. */
  readonly bytes: string;
}

const ESC = "\u001b";

/** Length of the escape sequence at the start, or 0 when its end is missing. */
function sequenceLength(text: string): number {
  const second = text[1];
  if (second === undefined) return 0;
  if (second === "[") {
    // Linux console function keys have one more character.
    if (text[2] === "[") return text.length > 3 ? 4 : 0;
    const end = /^\[[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]/.exec(text.slice(1));
    if (end) return end[0].length + 1;
    // A character that cannot be part of it ends a broken sequence.
    const broken = /^\[[\x20-\x3f]*/.exec(text.slice(1))?.[0].length ?? 1;
    return text.length > broken + 1 ? broken + 1 : 0;
  }
  if (second === "O") return text.length > 2 ? 3 : 0;
  if (second === "]" || second === "P" || second === "_" || second === "^") {
    const bell = text.indexOf("\u0007");
    const end = text.indexOf(`${ESC}\\`);
    if (bell > 0 && (end < 0 || bell < end)) return bell + 1;
    return end > 0 ? end + 2 : 0;
  }
  if (second === ESC) {
    // Alt with a key that is itself a sequence.
    const inner = sequenceLength(text.slice(1));
    return inner === 0 ? 0 : inner + 1;
  }
  return 1 + String.fromCodePoint(text.codePointAt(1) ?? 0).length;
}

function nameOf(bytes: string): string {
  // In raw mode Enter sends a carriage return; a line feed is Ctrl-J.
  if (bytes === "\n") return "ctrl+j";
  const name = parseKey(bytes) ?? "";
  if (name === "esc") return "escape";
  return name === "return" ? "enter" : name;
}

function keyOf(bytes: string): Key | null {
  if (isKeyRelease(bytes)) return null;
  const printable = bytes.startsWith(ESC) ? decodePrintableKey(bytes) : undefined;
  if (printable !== undefined) return { name: "", text: printable, bytes };
  return { name: nameOf(bytes), text: "", bytes };
}

/** Keeps an unfinished escape sequence until the rest of it arrives. */
export class KeySplitter {
  #rest = "";

  /** An escape sequence has begun and not ended. */
  get waiting(): boolean {
    return this.#rest !== "";
  }

  push(input: string): Key[] {
    const text = this.#rest + input;
    this.#rest = "";
    const keys: Key[] = [];
    let at = 0;
    while (at < text.length) {
      const char = text[at] ?? "";
      if (char === ESC) {
        const length = sequenceLength(text.slice(at));
        if (length === 0) {
          this.#rest = text.slice(at);
          break;
        }
        const key = keyOf(text.slice(at, at + length));
        if (key) keys.push(key);
        at += length;
      } else if (char < " " || char === "\u007f") {
        keys.push({ name: nameOf(char), text: "", bytes: char });
        at += 1;
      } else {
        // A run of text is one key: input methods and quick typing send several characters together.
        const run = /^\P{Cc}+/u.exec(text.slice(at))?.[0] ?? char;
        keys.push({ name: "", text: run, bytes: run });
        at += run.length;
      }
    }
    return keys;
  }

  /** The unfinished sequence as keys, when nothing more has come: usually the Escape key. */
  flush(): Key[] {
    const rest = this.#rest;
    this.#rest = "";
    if (rest === "") return [];
    if (rest === ESC) return [{ name: "escape", text: "", bytes: rest }];
    const key = rest.length === 2 ? keyOf(rest) : null;
    return key && key.name !== "" ? [key] : [];
  }
}
