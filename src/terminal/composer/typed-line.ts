// A message as it was typed: text, and pasted blocks behind short labels.

export interface TypedLine {
  /** The whole text. */
  readonly text: string;
  /** The text with labels in place of pasted blocks. */
  readonly typed: string;
  /** Pasted blocks by their labels. */
  readonly pastes: ReadonlyMap<string, string>;
  /** Paths of images to attach. */
  readonly images?: readonly string[] | undefined;
}

export const LABEL = /\[pasted #\d+: \d+ (?:lines|characters)\]/g;

/** A line without pasted blocks. */
export function plainLine(text: string): TypedLine {
  return { text, typed: text, pastes: new Map() };
}

/** The text with pasted blocks in place of their labels. */
export function withPastes(text: string, pastes: ReadonlyMap<string, string>): string {
  return pastes.size === 0 ? text : text.replace(LABEL, (label) => pastes.get(label) ?? label);
}

export function pasteLabel(text: string, number: number): string {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < text.length - 1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines > 1 ? `[pasted #${number}: ${lines} lines]` : `[pasted #${number}: ${text.length} characters]`;
}
