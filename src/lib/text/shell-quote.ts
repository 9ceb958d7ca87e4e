// Words for a POSIX shell.

/** The text as one word: in single quotes unless it is plain. */
export function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
