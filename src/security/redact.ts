// The redactor: masks known secret values in their usual encodings, and everything that looks like a secret.
import type { RedactOptions, Redactor } from "../core/redactor.ts";
import { envSpans } from "./redact-env.ts";
import { GapSet } from "./redact-gaps.ts";
import { shapeSpans, visibleSpans } from "./redact-shapes.ts";
import { type Span, ValueSet } from "./redact-values.ts";

export interface RedactorOptions {
  /** Secret values from the environment, auth.json and the configuration. */
  readonly values?: Iterable<string> | undefined;
  /** `security.redact_secrets`; read once, so that it cannot be disabled while the process runs. */
  readonly enabled?: boolean | undefined;
  /** Also masks phone numbers and user mentions: for logs. */
  readonly pii?: boolean | undefined;
}

/** Limit of buffered text; a longer unbroken run is emitted masked. */
const MAX_HOLD = 16_384;

const MAX_ROUNDS = 6;

/** A secret name with the rest of its line, whose value may be incomplete. */
const OPEN_LEAD =
  /(?:[A-Za-z0-9_.-]{0,64}(?:key|token|secret|pass(?:word|wd|phrase)?|pwd|credentials?|auth(?:orization)?|pat)[A-Za-z0-9_.-]{0,32}\\?["']?[ \t]{0,8}(?:[:=][^\n]*)?|(?:bearer|basic)[ \t]{1,8}[^\s]*|--?[a-z-]{1,32}[ \t]{0,4}["']?[^\s]*)$/i;

/** Merges overlapping spans; a known value determines the mask, otherwise the first span does. */
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

/** The mask that reveals less. */
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

/** Masking can expose the start of an adjacent secret, so the text is redacted until nothing more is found. */
function mask(text: string, findSpans: (text: string) => Span[]): string {
  let current = text;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const spans = findSpans(current);
    if (spans.length === 0) return current;
    current = apply(current, spans);
  }
  return current;
}

export function createRedactor(options: RedactorOptions = {}): Redactor {
  const values = new ValueSet();
  const gaps = new GapSet();
  const learn = (value: string) => {
    values.add(value);
    gaps.add(value);
  };
  for (const value of options.values ?? []) learn(value);
  const enabled = options.enabled ?? true;

  const findSpans = (text: string, how: RedactOptions): Span[] => {
    const exact = values.find(text);
    const covered = (span: Span) => exact.some(({ start, end }) => start <= span.start && end >= span.end);
    const code = (how.code ?? false) && !how.env;
    return mergeSpans([
      ...exact,
      ...visibleSpans(text, (plain) => [
        ...gaps.find(plain),
        ...shapeSpans(plain, { code, pii: options.pii ?? false }),
      ]).filter((span) => span.mask !== "***" || !covered(span)),
      ...(how.env ? envSpans(text) : []),
    ]);
  };
  return {
    redact: (text, how = {}) => (enabled ? mask(text, (part) => findSpans(part, how)) : text),
    stream: (how = {}) =>
      enabled ? new RedactedStream(values, (text) => findSpans(text, how)) : { push: (chunk) => chunk, end: () => "" },
    learn,
  };
}

/** Emits text that can no longer be part of a secret and buffers the rest. */
class RedactedStream {
  readonly #values: ValueSet;
  readonly #spans: (text: string) => Span[];
  #held = "";
  /** The end of a run that was emitted masked: the rest of the same secret is dropped. */
  #dropping = false;

  constructor(values: ValueSet, spans: (text: string) => Span[]) {
    this.#values = values;
    this.#spans = spans;
  }

  push(chunk: string): string {
    this.#held += this.#dropRest(chunk);
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

  #dropRest(chunk: string): string {
    if (!this.#dropping) return chunk;
    const stop = chunk.search(/[^A-Za-z0-9_.+/=-]/);
    this.#dropping = stop === -1;
    return stop === -1 ? "" : chunk.slice(stop);
  }

  /** How much of the buffered text can be emitted. */
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
    this.#dropping = last !== undefined && last.end === text.length;
    return this.#dropping ? text.length : this.#values.openTail(text);
  }

  /** Keeps a span that crosses the cut together with the start of its line, which may contain its name. */
  #beforeSpans(cut: number): number {
    if (cut === 0 || cut === this.#held.length) return cut;
    let safe = cut;
    // In reverse order: the start of its line may be inside the previous span.
    for (const span of this.#spans(this.#held).reverse())
      if (span.start < safe && span.end > safe) safe = lineStart(this.#held, span.start);
    return safe;
  }
}

/** Moves a cut before every secret name that reaches up to it. */
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
