// Reads a secret: nothing is echoed, Enter ends it, Ctrl-C gives up.
import type { Writable } from "node:stream";
import type { ReadStream } from "node:tty";

export interface HiddenOptions {
  readonly prompt: string;
  readonly signal?: AbortSignal;
}

/** Null when the person gives up, the input ends, or the signal fires. Without a terminal it reads one line. */
export async function readHidden(input: ReadStream, output: Writable, options: HiddenOptions): Promise<string | null> {
  output.write(options.prompt);
  const raw = input.isTTY === true;
  if (raw) input.setRawMode(true);
  input.resume();
  let secret = "";
  try {
    return await new Promise<string | null>((resolve) => {
      const done = (value: string | null) => {
        input.off("data", onData);
        input.off("end", onEnd);
        resolve(value);
      };
      const onEnd = () => done(secret === "" ? null : secret);
      const onData = (chunk: Buffer | string) => {
        for (const char of chunk.toString()) {
          if (char === "\r" || char === "\n") return done(secret);
          if (char === "\u0003" || char === "\u0004") return done(null);
          if (char === "\u007f" || char === "\b") secret = secret.slice(0, -1);
          else if (char >= " ") secret += char;
        }
      };
      input.on("data", onData);
      input.on("end", onEnd);
      options.signal?.addEventListener("abort", () => done(null), { once: true });
    });
  } finally {
    if (raw) input.setRawMode(false);
    input.pause();
    output.write("\n");
  }
}
