// Text from outside as one plain line.
import { truncate } from "./truncate.ts";

/** Line breaks, runs of white space and control characters become one space. At most `chars` long when given. */
export function oneLine(text: string, chars?: number): string {
  // Four times the length is enough to fill a line, and saves the work on the rest of a long text.
  const start = chars === undefined ? text : text.slice(0, chars * 4);
  const line = start.replace(/[\p{Cc}\s]+/gu, " ").trim();
  if (chars === undefined) return line;
  return truncate(start.length < text.length && line.length <= chars ? `${line}…` : line, chars);
}
