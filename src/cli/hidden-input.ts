// Reads a secret: nothing is echoed, Enter ends it, Ctrl-C gives up.
import type { Readable, Writable } from "node:stream";

type Hidden = Readable & { isTTY?: boolean | undefined; setRawMode?(on: boolean): unknown };

export interface HiddenOptions {
  readonly prompt: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Null when the person gives up, the input ends, or the signal fires. Without a terminal it reads one line; what came
 * together with it is left for whoever reads next.
 */
export async function readHidden(input: Hidden, output: Writable, options: HiddenOptions): Promise<string | null> {
  const { signal } = options;
  if (signal?.aborted || input.readableEnded) return null;
  output.write(options.prompt);
  const raw = input.isTTY === true;
  if (raw) input.setRawMode?.(true);
  input.resume();
  let secret = "";
  try {
    return await new Promise<string | null>((resolve) => {
      const done = (value: string | null) => {
        input.pause();
        input.off("data", onData);
        input.off("end", onEnd);
        signal?.removeEventListener("abort", giveUp);
        resolve(value);
      };
      const giveUp = () => done(null);
      const onEnd = () => done(secret === "" ? null : secret);
      const onData = (chunk: Buffer | string) => {
        const text = chunk.toString();
        const line = /\r?\n|\r/.exec(text);
        for (const char of text.slice(0, line?.index)) {
          if (char === "\u0003" || char === "\u0004") return done(null);
          if (char === "\u007f" || char === "\b") secret = secret.slice(0, -1);
          else if (char >= " ") secret += char;
        }
        if (!line) return;
        done(secret);
        const rest = text.slice(line.index + line[0].length);
        if (rest !== "") input.unshift(rest);
      };
      input.on("data", onData);
      input.on("end", onEnd);
      signal?.addEventListener("abort", giveUp);
    });
  } finally {
    if (raw) input.setRawMode?.(false);
    output.write("\n");
  }
}
