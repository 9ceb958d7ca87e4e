// Text rules shared with files written by Hermes v0.14: whitespace and lengths as Python sees them.

/** Python's `\s` for text: includes U+0085 and the separators U+001C–001F, excludes U+FEFF. */
export const SPACE = "\\t\\n\\v\\f\\r\\x1c-\\x1f \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

const IS_SPACE = new RegExp(`[${SPACE}]`);

/** Most texts begin and end with a plain letter, so the pattern is rarely needed. */
function isSpaceAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code > 0x20 && code < 0x7f) return false;
  return code === 0x20 || IS_SPACE.test(text.charAt(index));
}

/** Looks at the edges only: a pattern for the end would try every space of a long text. */
export function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpaceAt(text, start)) start++;
  while (end > start && isSpaceAt(text, end - 1)) end--;
  return start === 0 && end === text.length ? text : text.slice(start, end);
}

/** Code points, not UTF-16 units. */
export function textLength(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The first `count` code points. */
export function cut(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let taken = 0; taken < count && end < text.length; taken++) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}
