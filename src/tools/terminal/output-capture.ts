// Captures the output of a command: start and end in memory, all of it in a file once it exceeds the limit.
import { createWriteStream, mkdirSync, type WriteStream } from "node:fs";
import { dirname } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { holdYoungSpace } from "../../lib/heap-limits.ts";

export interface Spill {
  readonly path: string;
  readonly bytes: number;
  readonly lines: number;
}

const HEAD_SHARE = 0.4;

export class OutputCapture {
  readonly #limit: number;
  readonly #spillPath: string;
  readonly #decoder = new StringDecoder("utf8");
  readonly #transform: (text: string) => string;
  #head = "";
  #tail = "";
  #chars = 0;
  #bytes = 0;
  #lines = 0;
  #file: WriteStream | undefined;
  #failed = false;
  #release: (() => void) | undefined;

  /** `transform` is applied to every piece before it is stored, so that secrets are never written to disk. */
  constructor(options: { limit: number; spillPath: string; transform?: (text: string) => string }) {
    this.#limit = options.limit;
    this.#spillPath = options.spillPath;
    this.#transform = options.transform ?? ((text) => text);
  }

  /** Returns a promise when the caller should wait because the file is written more slowly than output arrives. */
  push(chunk: Uint8Array): Promise<void> | undefined {
    return this.#store(
      this.#transform(this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))),
    );
  }

  #store(text: string): Promise<void> | undefined {
    if (text === "") return undefined;
    const before = this.#chars;
    this.#chars += text.length;
    this.#bytes += Buffer.byteLength(text);
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#lines++;
    const headLimit = Math.floor(this.#limit * HEAD_SHARE);
    const tailLimit = this.#limit - headLimit;
    if (before < headLimit) this.#head += text.slice(0, headLimit - before);
    const rest = before >= headLimit ? text : text.slice(headLimit - before);
    this.#tail += rest;
    if (this.#chars > this.#limit && !this.#file && !this.#failed) this.#startFile(this.#head + this.#tail);
    else if (this.#file) return this.#writeFile(text);
    if (this.#tail.length > 2 * tailLimit) this.#tail = this.#tail.slice(-tailLimit);
    return undefined;
  }

  #startFile(soFar: string): void {
    this.#release = holdYoungSpace();
    try {
      mkdirSync(dirname(this.#spillPath), { recursive: true, mode: 0o700 });
    } catch {
      this.#failed = true;
      return;
    }
    const file = createWriteStream(this.#spillPath, { mode: 0o600 });
    file.on("error", () => {
      this.#failed = true;
    });
    file.write(soFar);
    this.#file = file;
  }

  #writeFile(text: string): Promise<void> | undefined {
    const tailLimit = this.#limit - Math.floor(this.#limit * HEAD_SHARE);
    if (this.#tail.length > 2 * tailLimit) this.#tail = this.#tail.slice(-tailLimit);
    if (this.#failed || !this.#file || this.#file.write(text)) return undefined;
    const file = this.#file;
    return new Promise((resolve) => {
      const done = () => {
        file.off("drain", done);
        file.off("error", done);
        resolve();
      };
      file.once("drain", done);
      file.once("error", done);
    });
  }

  /** Flushes the file. `text` is all output, or its start and end with a line about what was left out. */
  async finish(): Promise<{ text: string; spill?: Spill | undefined }> {
    this.#store(this.#transform(this.#decoder.end()));
    this.#release?.();
    if (this.#chars <= this.#limit) return { text: this.#head + this.#tail };
    const tailLimit = this.#limit - Math.floor(this.#limit * HEAD_SHARE);
    const tail = this.#tail.slice(-tailLimit);
    const omitted = this.#chars - this.#head.length - tail.length;
    const file = this.#file;
    if (file && !this.#failed) await new Promise<void>((resolve) => file.end(() => resolve()));
    const spill = this.#failed ? undefined : { path: this.#spillPath, bytes: this.#bytes, lines: this.#lines };
    const where = spill ? `; the whole output (${spill.lines} lines) is in ${spill.path}: page it with read_file` : "";
    return {
      text: `${this.#head}\n… [${omitted} characters left out${where}] …\n${tail}`,
      spill,
    };
  }
}
