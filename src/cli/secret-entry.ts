// A secret typed or pasted at the terminal: nothing is echoed, Enter ends it, Ctrl-C gives up.
import type { InputReceiver } from "./terminal-input.ts";

// A control character in a literal looks like a slip to the linter.
const SEQUENCE = new RegExp(`${String.fromCharCode(27)}(?:\\[[0-9;?]*[ -/]*[@-~]|O.|.)?`, "gsu");

export class SecretEntry implements InputReceiver {
  readonly #done: (secret: string | null) => void;
  readonly #tell: (text: string) => void;
  #chars: string[] = [];

  /** `done` is called with null when the person gives up; `tell` shows why a paste was not taken. */
  constructor(done: (secret: string | null) => void, tell: (text: string) => void) {
    this.#done = done;
    this.#tell = tell;
  }

  /** What follows Enter in the same piece is dropped: it may be the rest of a secret. */
  keys(text: string): void {
    for (const char of text.replaceAll(SEQUENCE, "")) {
      const enter = char === "\r" || char === "\n";
      if (enter || char === "\u0003" || char === "\u0004") {
        this.#done(enter ? this.#chars.join("") : null);
        return;
      }
      if (char === "\u007f" || char === "\b") this.#chars.pop();
      else if (char === "\u0015") this.#chars = [];
      else if (char >= " ") this.#chars.push(char);
    }
  }

  paste(text: string): void {
    const line = text.replace(/[\r\n]+$/, "");
    if (/[\r\n]/.test(line)) this.#tell("more than one line was pasted; nothing was taken");
    else this.#chars.push(...[...line].filter((char) => char >= " " && char !== "\u007f"));
  }

  end(): void {
    this.#done(null);
  }
}
