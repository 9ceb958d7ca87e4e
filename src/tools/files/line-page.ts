// Reads a page of lines from a byte stream, keeping only the page in memory.
import { StringDecoder } from "node:string_decoder";
import type { Encoding } from "./text-file.ts";

export interface LinePage {
  readonly lines: readonly string[];
  readonly totalLines: number;
  /** Lines that were cut to `maxLineChars`. */
  readonly cutLines: number;
}

export interface PageRequest {
  /** First line, from 1. */
  readonly offset: number;
  readonly limit: number;
  readonly maxLineChars: number;
  readonly encoding: Encoding;
}

class PageCollector {
  readonly lines: string[] = [];
  cutLines = 0;
  #line = 1;
  #current = "";
  #length = 0;
  readonly #options: PageRequest;

  constructor(options: PageRequest) {
    this.#options = options;
  }

  /** True for lines of the page; the others are only counted. */
  get #inPage(): boolean {
    return this.#line >= this.#options.offset && this.#line < this.#options.offset + this.#options.limit;
  }

  push(text: string): void {
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      this.#extend(text.slice(start, end));
      this.#finish();
      start = end + 1;
    }
    this.#extend(text.slice(start));
  }

  #extend(piece: string): void {
    this.#length += piece.length;
    if (this.#inPage && this.#current.length <= this.#options.maxLineChars) this.#current += piece;
  }

  #finish(): void {
    if (this.#inPage) {
      const whole = this.#current.endsWith("\r") ? this.#current.slice(0, -1) : this.#current;
      const cut = whole.length > this.#options.maxLineChars;
      if (cut) this.cutLines++;
      this.lines.push(
        cut ? `${whole.slice(0, this.#options.maxLineChars)}… [line cut: ${this.#length} characters]` : whole,
      );
    }
    this.#line++;
    this.#current = "";
    this.#length = 0;
  }

  /** Call at the end of the stream; returns the number of lines. The last line may have no line end. */
  end(): number {
    if (this.#length > 0) this.#finish();
    return this.#line - 1;
  }
}

function textDecoder(encoding: Encoding): { write(chunk: Uint8Array): string; end(): string } {
  if (encoding === "utf-16be") {
    const decoder = new TextDecoder("utf-16be");
    return { write: (chunk) => decoder.decode(chunk, { stream: true }), end: () => decoder.decode() };
  }
  const decoder = new StringDecoder(encoding === "utf-16le" ? "utf16le" : encoding === "latin1" ? "latin1" : "utf8");
  return {
    write: (chunk) => decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
    end: () => decoder.end(),
  };
}

export async function readPage(chunks: AsyncIterable<Uint8Array>, options: PageRequest): Promise<LinePage> {
  const collector = new PageCollector(options);
  const decoder = textDecoder(options.encoding);
  let first = true;
  for await (const chunk of chunks) {
    let text = decoder.write(chunk);
    if (first && text.startsWith("\uFEFF")) text = text.slice(1);
    if (text !== "") first = false;
    collector.push(text);
  }
  collector.push(decoder.end());
  const totalLines = collector.end();
  return { lines: collector.lines, totalLines, cutLines: collector.cutLines };
}
