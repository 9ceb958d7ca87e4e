// Compares a text with a pattern in which `*` matches any characters and `?` one.

export function matchesGlob(pattern: string, text: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[\\s\\S]*")
    .replaceAll("?", "[\\s\\S]");
  return new RegExp(`^${source}$`).test(text);
}
