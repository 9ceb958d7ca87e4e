// The redactor: masks known secret values in every usual encoding, and everything that has the shape of a secret.
import type { RedactOptions, Redactor } from "../core/redactor.ts";
import { envSpans } from "./redact-env.ts";
import { shapeSpans } from "./redact-shapes.ts";
import { type Span, ValueSet } from "./redact-values.ts";

export interface RedactorOptions {
  /** Secret values from the environment, auth.json and the configuration. */
  readonly values?: Iterable<string> | undefined;
  /** `security.redact_secrets`; read once, so that nothing that runs later can switch it off. */
  readonly enabled?: boolean | undefined;
  /** Also masks phone numbers and user mentions: for logs. */
  readonly pii?: boolean | undefined;
}

/** Held back at most this much; a longer unbroken run is passed on masked. */
const MAX_HOLD = 16_384;

const MAX_ROUNDS = 6;

/** A name that announces a secret, with what follows it on the line: the value may still be arriving. */
const OPEN_LEAD =
  /(?:[A-Za-z0-9_.-]{0,64}(?:key|token|secret|pass(?:word|wd|phrase)?|pwd|credentials?|auth(?:orization)?|pat)[A-Za-z0-9_.-]{0,32}\\?["']?[ \t]{0,8}(?:[:=][^\n]*)?|(?:bearer|basic)[ \t]{1,8}[^\s]*|--?[a-z-]{1,32}[ \t]{0,4}["']?[^\s]*)$/i;

/** Overlapping spans become one; a known value decides the mask, else the span that starts first. */
function mergeSpans(spans: Span[]): Span[] {
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged[merged.length - 1];
    if (!last || span.start >= last.end) merged.push(span);
    else {
      const covers = span.start === last.start && span.end === last.end;
      const mask = covers || span.end <= last.end ? shorter(last.mask, span.mask) : "***";
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, span.end), mask };
    }
  }
  return merged;
}

/** The mask that tells less. */
function shorter(a: string, b: string): string {
  return a.length <= b.length ? a : b;
}

function apply(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let at = 0;
  for (const span of spans) {
    parts.push(text.slice(at, span.start), span.mask);
    at = span.end;
  }
  parts.push(text.slice(at));
  return parts.join("");
}

/** A mask can uncover the beginning of a neighbouring secret, so the text is looked at until nothing is found. */
function mask(text: string, spansOf: (text: string) => Span[]): string {
  let current = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const spans = spansOf(current);
    if (spans.length === 0) return current;
    current = apply(current, spans);
  }
  return current;
}

export function createRedactor(options: RedactorOptions = {}): Redactor {
  const values = new ValueSet();
  for (const value of options.values ?? []) values.add(value);
  const enabled = options.enabled ?? true;

  const spansOf = (text: string, how: RedactOptions): Span[] =>
    mergeSpans([
      ...values.find(text),
      ...shapeSpans(text, { code: (how.code ?? false) && !how.env, pii: options.pii ?? false }),
      ...(how.env ? envSpans(text) : []),
    ]);
  return {
    redact: (text, how = {}) => (enabled ? mask(text, (part) => spansOf(part, how)) : text),
    stream: (how = {}) =>
      enabled ? new RedactedStream(values, (text) => spansOf(text, how)) : { push: (chunk) => chunk, end: () => "" },
    learn: (value) => values.add(value),
  };
}

/** Passes on what can no longer become part of a secret and keeps the rest until more arrives. */
class RedactedStream {
  readonly #values: ValueSet;
  readonly #spans: (text: string) => Span[];
  #held = "";
  /** The tail of what was passed on masked: more of the same secret may follow and is dropped. */
  #swallowing = false;

  constructor(values: ValueSet, spans: (text: string) => Span[]) {
    this.#values = values;
    this.#spans = spans;
  }

  push(chunk: string): string {
    this.#held += this.#swallow(chunk);
    const cut = this.#safeCut();
    if (cut === 0) return "";
    const ready = this.#held.slice(0, cut);
    this.#held = this.#held.slice(cut);
    return mask(ready, this.#spans);
  }

  end(): string {
    const rest = this.#held;
    this.#held = "";
    return mask(rest, this.#spans);
  }

  #swallow(chunk: string): string {
    if (!this.#swallowing) return chunk;
    const stop = chunk.search(/[^A-Za-z0-9_.+/=-]/);
    this.#swallowing = stop === -1;
    return stop === -1 ? "" : chunk.slice(stop);
  }

  /** How much of the held text is certain. */
  #safeCut(): number {
    const text = this.#held;
    const line = text.lastIndexOf("\n") + 1;
    const word = Math.max(line, lastSpace(text) + 1);
    const begin = text.lastIndexOf("-----BEGIN");
    const open =
      begin !== -1 && !/-----END [A-Z0-9 ]{0,60}-----/.test(text.slice(begin)) ? lineStart(text, begin) : text.length;
    const cut = Math.min(beforeLead(text, line, word), open, this.#values.openTail(text));
    if (text.length - cut <= MAX_HOLD) return this.#beforeSpans(cut);
    const last = this.#spans(text).pop();
    this.#swallowing = last !== undefined && last.end === text.length;
    return this.#swallowing ? text.length : this.#values.openTail(text);
  }

  /** A span that reaches over the cut is kept whole, together with its line: what stands before it may be its name. */
  #beforeSpans(cut: number): number {
    if (cut === 0 || cut === this.#held.length) return cut;
    let safe = cut;
    // From the last one back: the start of its line may lie in the one before.
    for (const span of this.#spans(this.#held).reverse())
      if (span.start < safe && span.end > safe) safe = lineStart(this.#held, span.start);
    return safe;
  }
}

/** Moves a cut in front of every name that announces a secret and reaches up to it. */
function beforeLead(text: string, line: number, word: number): number {
  let cut = word;
  while (cut > line) {
    const from = Math.max(line, cut - 512);
    const lead = OPEN_LEAD.exec(text.slice(from, cut));
    if (!lead) break;
    cut = lastSpace(text.slice(0, from + lead.index)) + 1;
  }
  return cut;
}

function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

function lastSpace(text: string): number {
  for (let at = text.length - 1; at >= 0; at--) {
    const code = text.charCodeAt(at);
    if (code === 32 || code === 9 || code === 10 || code === 13) return at;
  }
  return -1;
}
