// Shortens texts so that the reader sees that something is missing.

/** The index at or before `end` that does not split a surrogate pair. */
function wholeCharacter(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return end < text.length && code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}

/** At most `chars` UTF-16 units, the last of them an ellipsis when something was cut. */
export function truncate(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, wholeCharacter(text, Math.max(0, chars - 1)))}…`;
}

/** The start (70 %) and the end (30 %) of a long text around a line with `marker`; `chars` limits what is kept of the text. */
export function truncateMiddle(text: string, chars: number, marker: string): string {
  if (text.length <= chars) return text;
  const head = wholeCharacter(text, Math.floor(chars * 0.7));
  const tail = wholeCharacter(text, text.length - Math.floor(chars * 0.3));
  return `${text.slice(0, head)}\n${marker}\n${text.slice(tail)}`;
}
