// Finds and removes our marks in the output of a remote command, also when chunks split them.

const EDGE = 0x1e;

/** `begin`: our script runs. `pid`: the command started with this process group. `end`: exit code and, if known, the folder. */
export type Frame =
  | { readonly kind: "begin" }
  | { readonly kind: "pid"; readonly pid: number }
  | { readonly kind: "end"; readonly exitCode: number; readonly cwd: string };

function parse(text: string): Frame | undefined {
  const [kind, number = "", ...rest] = text.split(":");
  if (kind === "begin") return { kind };
  if (kind === "pid") return { kind, pid: Number(number) };
  if (kind === "end") return { kind, exitCode: Number(number), cwd: rest.join(":") };
  return undefined;
}

/** A mark is `␞token:body␞`. The token is random for each command, so that output cannot imitate marks. */
export class FrameFilter {
  readonly #start: Buffer;
  readonly #onFrame: (frame: Frame) => void;
  #held: Buffer = Buffer.alloc(0);
  /** False until the first mark: output before it comes from the login shell. */
  #begun = false;

  constructor(token: string, onFrame: (frame: Frame) => void) {
    this.#start = Buffer.from(`\u001e${token}:`);
    this.#onFrame = onFrame;
  }

  /** Returns the command's output in the chunk. A possible start of a mark is held until the next chunk. */
  push(chunk: Buffer): Buffer {
    let data = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    const plain: Buffer[] = [];
    for (;;) {
      const at = data.indexOf(this.#start);
      if (at < 0) break;
      const end = data.indexOf(EDGE, at + this.#start.length);
      if (this.#begun) plain.push(data.subarray(0, at));
      data = data.subarray(at);
      if (end < 0) break;
      const frame = parse(data.subarray(this.#start.length, end - at).toString());
      data = data.subarray(end - at + 1);
      this.#begun = true;
      if (frame) this.#onFrame(frame);
    }
    const keep = this.#possibleStart(data);
    if (this.#begun) plain.push(data.subarray(0, data.length - keep));
    this.#held = data.subarray(data.length - keep);
    return plain.length === 1 ? (plain[0] as Buffer) : Buffer.concat(plain);
  }

  /** The number of bytes at the end that could be the start of a mark. */
  #possibleStart(data: Buffer): number {
    if (data.indexOf(this.#start) === 0) return data.length;
    const at = data.lastIndexOf(EDGE);
    if (at < 0 || data.length - at >= this.#start.length) return 0;
    return this.#start.subarray(0, data.length - at).equals(data.subarray(at)) ? data.length - at : 0;
  }

  /** Call when the stream has ended. Returns the bytes that were held. */
  end(): Buffer {
    const rest = this.#begun ? this.#held : Buffer.alloc(0);
    this.#held = Buffer.alloc(0);
    return rest;
  }
}
