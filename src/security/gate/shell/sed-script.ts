// Finds what a sed script runs, reads and writes: the commands e, r, w and the flags e and w of s.

export interface SedEffects {
  /** Shell commands; an empty string when sed runs its input. */
  readonly runs: string[];
  readonly reads: string[];
  readonly writes: string[];
}

class SedReader {
  readonly found: SedEffects = { runs: [], reads: [], writes: [] };
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  #skip(pattern: RegExp): string {
    const match = new RegExp(pattern.source, "y");
    match.lastIndex = this.#at;
    const found = match.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  /** Skips to the end of a part that the delimiter closes. */
  #part(delimiter: string): void {
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at++];
      if (char === "\\") this.#at++;
      else if (char === delimiter) return;
    }
  }

  #address(): void {
    for (;;) {
      if (this.#skip(/\s*(?:\d+(?:~\d+)?|\$|[+~]\d+)/) !== "") this.#skip(/\s*,\s*|\s*!\s*/);
      else if (/^\s*\//.test(this.#text.slice(this.#at, this.#at + 20))) {
        this.#skip(/\s*\//);
        this.#part("/");
        this.#skip(/[IM]*\s*[,!]?\s*/);
      } else if (this.#text[this.#at] === "\\") {
        const delimiter = this.#text[this.#at + 1] ?? "";
        this.#at += 2;
        this.#part(delimiter);
        this.#skip(/[IM]*\s*[,!]?\s*/);
      } else return;
    }
  }

  #substitute(isS: boolean): void {
    const delimiter = this.#text[this.#at++] ?? "";
    this.#part(delimiter);
    this.#part(delimiter);
    if (!isS) return;
    const flags = this.#skip(/[gpiIMme0-9]*/);
    if (flags.includes("e")) this.found.runs.push("");
    if (this.#text[this.#at] === "w") {
      this.#at++;
      this.found.writes.push(this.#line());
    }
  }

  #line(): string {
    return this.#skip(/[^\n]*/).trim();
  }

  read(): SedEffects {
    while (this.#at < this.#text.length) {
      this.#skip(/[\s;{}]*/);
      this.#address();
      this.#skip(/[\s!]*/);
      const command = this.#text[this.#at++];
      if (command === undefined) break;
      if (command === "s" || command === "y") this.#substitute(command === "s");
      else if (command === "e") this.found.runs.push(this.#line());
      else if (command === "w" || command === "W") this.found.writes.push(this.#line());
      else if (command === "r" || command === "R") this.found.reads.push(this.#line());
      else if ("aic#".includes(command)) this.#line();
      else if (!"{};".includes(command)) this.#skip(/[^;}\n]*/);
    }
    return this.found;
  }
}

export function sedEffects(script: string): SedEffects {
  return new SedReader(script.slice(0, 20_000)).read();
}
