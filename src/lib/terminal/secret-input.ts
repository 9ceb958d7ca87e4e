// Reads a secret from a terminal or a pipe: nothing is echoed, Enter ends it, Ctrl-C cancels.
import type { Readable, Writable } from "node:stream";
import type { InputReceiver } from "./terminal-input.ts";

// Built from a string because the linter rejects control characters in regular expression literals.
const ESCAPE_SEQUENCE = new RegExp(`${String.fromCharCode(27)}(?:\\[[0-9;?]*[ -/]*[@-~]|O.|.)?`, "gsu");

/** Collects the characters of a secret. */
export class SecretEntry implements InputReceiver {
  readonly #done: (secret: string | null) => void;
  readonly #warn: (text: string) => void;
  #chars: string[] = [];

  /** `done` receives null when the user cancels; `warn` shows why a paste was rejected. */
  constructor(done: (secret: string | null) => void, warn: (text: string) => void) {
    this.#done = done;
    this.#warn = warn;
  }

  /** Input after Enter in the same chunk is dropped: it may be the rest of a secret. */
  keys(text: string): void {
    for (const char of text.replaceAll(ESCAPE_SEQUENCE, "")) {
      const enter = char === "\r" || char === "\n";
      if (enter || char === "\u0003" || char === "\u0004") {
        this.#done(enter ? this.text : null);
        return;
      }
      if (char === "\u007f" || char === "\b") this.#chars.pop();
      else if (char === "\u0015") this.#chars = [];
      else if (char >= " ") this.#chars.push(char);
    }
  }

  paste(text: string): void {
    const line = text.replace(/[\r\n]+$/, "");
    if (/[\r\n]/.test(line)) this.#warn("the pasted text has more than one line and was ignored");
    else this.#chars.push(...[...line].filter((char) => char >= " " && char !== "\u007f"));
  }

  end(): void {
    this.#done(null);
  }

  /** The characters typed so far. */
  get text(): string {
    return this.#chars.join("");
  }
}

type SecretSource = Readable & { isTTY?: boolean | undefined; setRawMode?(on: boolean): unknown };

/**
 * Reads one line directly from a stream. Null when the user cancels, the input ends, or the signal fires. Input after
 * the line stays in the stream for the next reader.
 */
export async function readSecret(
  input: SecretSource,
  output: Writable,
  options: { readonly prompt: string; readonly signal?: AbortSignal | undefined },
): Promise<string | null> {
  const { prompt, signal } = options;
  if (signal?.aborted || input.readableEnded) return null;
  output.write(prompt);
  const raw = input.isTTY === true;
  if (raw) input.setRawMode?.(true);
  input.resume();
  try {
    return await new Promise<string | null>((resolve) => {
      const done = (secret: string | null) => {
        input.pause();
        input.off("data", onData);
        input.off("end", onEnd);
        signal?.removeEventListener("abort", cancel);
        resolve(secret);
      };
      const cancel = () => done(null);
      const entry = new SecretEntry(done, () => undefined);
      const onEnd = () => done(entry.text === "" ? null : entry.text);
      const onData = (chunk: Buffer | string) => {
        const text = chunk.toString();
        const line = /\r?\n|\r/.exec(text);
        entry.keys(line ? `${text.slice(0, line.index)}\n` : text);
        const rest = line ? text.slice(line.index + line[0].length) : "";
        if (rest !== "") input.unshift(rest);
      };
      input.on("data", onData);
      input.on("end", onEnd);
      signal?.addEventListener("abort", cancel);
    });
  } finally {
    if (raw) input.setRawMode?.(false);
    output.write("\n");
  }
}
