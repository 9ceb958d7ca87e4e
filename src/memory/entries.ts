// The format of MEMORY.md and USER.md: entries between lines that hold only a section sign.

const DELIMITER = "\n§\n";

/** Trimmed entries in order; blank ones and exact duplicates are dropped. */
export function parseEntries(text: string): string[] {
  const entries = text
    .replace(/^\ufeff/, "")
    .replace(/\r\n/g, "\n")
    .split(DELIMITER)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "" && entry !== "§");
  return [...new Set(entries)];
}

export function joinEntries(entries: readonly string[]): string {
  return entries.join(DELIMITER);
}

/** Characters that count against the limit: the joined text. */
export function entrySize(entries: readonly string[]): number {
  return joinEntries(entries).length;
}
