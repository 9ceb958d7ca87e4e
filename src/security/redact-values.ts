// Finds known secret values in a text, also in their usual encodings.

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly mask: string;
}

const MIN_VALUE = 6;
const MIN_FORM = 6;
const MIN_BASE64 = 8;
const HEAD = 4;

/** A secret inside base64 text has one of three alignments; only its inner characters are fixed. */
function base64Forms(bytes: Buffer): string[] {
  const forms: string[] = [];
  for (let shift = 0; shift < 3; shift++) {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const certainEnd = Math.floor(((shift + bytes.length) * 8) / 6);
    const inner = encoded.slice(shift === 0 ? 0 : shift + 1, certainEnd);
    if (inner.length >= MIN_BASE64) forms.push(inner, inner.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return forms;
}

function hexForms(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  return [hex, hex.toUpperCase(), hex.replace(/../g, "\\x$&"), hex.replace(/../g, "%$&")];
}

function urlForms(value: string): string[] {
  // Lone surrogates cannot be URL-encoded.
  const sound = value.replace(/[\ud800-\udfff]/gu, "\ufffd");
  const encoded = encodeURIComponent(sound);
  const lower = encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  return [encoded, lower, encoded.replaceAll("%20", "+"), encodeURI(sound)];
}

function jsonForms(value: string): string[] {
  const once = JSON.stringify(value).slice(1, -1);
  const ascii = once.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return [once, JSON.stringify(once).slice(1, -1), once.replaceAll("/", "\\/"), ascii];
}

/** Every encoding in which the value is searched. */
export function encodings(value: string): Set<string> {
  const bytes = Buffer.from(value, "utf8");
  const reversed = [...value].reverse().join("");
  const forms = [value, reversed, ...jsonForms(value), ...urlForms(value), ...base64Forms(bytes), ...hexForms(bytes)];
  return new Set(forms.filter((form) => form.length >= MIN_FORM));
}

/** Shows at most the public prefix of a key (`sk-`, `ghp_`), never part of its body. */
function valueMask(form: string): string {
  const prefix = /^(?:sk-(?:ant-|or-|proj-)?|ghp_|github_pat_|gh[ousr]_|xox[baprs]-|AIza|hf_|gsk_)/.exec(form);
  return prefix && form.length > prefix[0].length + 8 ? `${prefix[0]}***` : "***";
}

/** A set of secret values. Each position is rejected in constant time, so the text is read once for any set size. */
export class ValueSet {
  readonly #byHead = new Map<string, string[]>();
  readonly #pairs = new Uint8Array(65_536);
  readonly #known = new Set<string>();
  longest = 0;

  add(value: string): void {
    const trimmed = value.trim();
    if (trimmed.length < MIN_VALUE || this.#known.has(trimmed)) return;
    this.#known.add(trimmed);
    for (const form of encodings(trimmed)) this.#addForm(form);
  }

  #addForm(form: string): void {
    const head = form.slice(0, HEAD);
    const bucket = this.#byHead.get(head) ?? [];
    if (bucket.includes(form)) return;
    bucket.push(form);
    bucket.sort((a, b) => b.length - a.length);
    this.#byHead.set(head, bucket);
    this.#pairs[pairIndex(form, 0)] = 1;
    this.longest = Math.max(this.longest, form.length);
  }

  find(text: string): Span[] {
    const spans: Span[] = [];
    if (this.#known.size === 0) return spans;
    const last = text.length - MIN_FORM;
    for (let at = 0; at <= last; at++) {
      if (this.#pairs[pairIndex(text, at)] === 0) continue;
      const form = this.#byHead.get(text.slice(at, at + HEAD))?.find((candidate) => text.startsWith(candidate, at));
      if (form === undefined) continue;
      spans.push({ start: at, end: at + form.length, mask: valueMask(form) });
      at += form.length - 1;
    }
    return spans;
  }

  /** The position where the end of the text may start a value; the length of the text when it does not. */
  openTail(text: string): number {
    if (this.#known.size === 0) return text.length;
    for (let at = Math.max(0, text.length - this.longest + 1); at < text.length; at++) {
      if (text.length - at >= 2 && this.#pairs[pairIndex(text, at)] === 0) continue;
      if (this.#startsForm(text.slice(at))) return at;
    }
    return text.length;
  }

  #startsForm(tail: string): boolean {
    if (tail.length >= HEAD) {
      return (this.#byHead.get(tail.slice(0, HEAD)) ?? []).some(
        (form) => form.length > tail.length && form.startsWith(tail),
      );
    }
    for (const head of this.#byHead.keys()) if (head.startsWith(tail)) return true;
    return false;
  }
}

function pairIndex(text: string, at: number): number {
  return ((text.charCodeAt(at) & 0xff) << 8) | (text.charCodeAt(at + 1) & 0xff);
}
