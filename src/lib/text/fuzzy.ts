// Fuzzy matching: the characters of the query occur in the text in this order; beginnings of words count more.

/** The score of a match, higher is better; null when the query does not match. Both are lower case. */
export function fuzzyScore(query: string, text: string): number | null {
  if (query === "") return 0;
  const whole = text.indexOf(query);
  if (whole >= 0) {
    const atWord = whole === 0 || isBoundary(text.charCodeAt(whole - 1));
    return 1_000 + (atWord ? 300 : 0) + (whole > text.lastIndexOf("/") ? 200 : 0) - text.length - whole / 100;
  }
  let score = 0;
  let at = -1;
  for (let index = 0; index < query.length; index++) {
    const next = text.indexOf(query[index] as string, at + 1);
    if (next < 0) return null;
    if (next === at + 1) score += 8;
    if (next === 0 || isBoundary(text.charCodeAt(next - 1))) score += 12;
    score -= Math.min(6, next - at - 1);
    at = next;
  }
  return score - text.length / 10;
}

function isBoundary(code: number): boolean {
  // Blank - . / : _
  return code === 32 || (code >= 45 && code <= 47) || code === 58 || code === 95;
}

/** The best matches, best first; without a query the first ones in their order. */
export function fuzzyFilter<T>(
  query: string,
  items: readonly T[],
  options: { readonly limit: number; key(item: T): string },
): T[] {
  if (query === "") return items.slice(0, options.limit);
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found: { item: T; score: number; index: number }[] = [];
  for (const [index, item] of items.entries()) {
    const text = options.key(item).toLowerCase();
    let total = 0;
    let matches = true;
    for (const word of words) {
      const score = fuzzyScore(word, text);
      if (score === null) {
        matches = false;
        break;
      }
      total += score;
    }
    if (matches) found.push({ item, score: total, index });
  }
  found.sort((a, b) => b.score - a.score || a.index - b.index);
  return found.slice(0, options.limit).map(({ item }) => item);
}
