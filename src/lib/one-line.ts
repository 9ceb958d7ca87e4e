// Text from elsewhere as one plain line: no breaks, no control characters that a terminal would obey.

export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, " ").trim();
}
