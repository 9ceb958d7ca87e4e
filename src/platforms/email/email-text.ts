// Removes quoted e-mails from the text of a reply.

/** How mail programs introduce the e-mail that they quote, in some languages. */
const INTRODUCTION =
  /^(?:On\b.{5,200}\bwrote:|Am\b.{5,200}\bschrieb\b.{0,200}:|Le\b.{5,200}\ba écrit\s?:|El\b.{5,200}\bescribió:|-{2,}\s*(?:Original Message|Forwarded message)\s*-{2,})$/i;

/** Removes the quoted e-mail at the end; text between and below quotes stays. */
export function withoutQuote(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").trim().split("\n");
  let end = lines.length;
  while (end > 0 && /^\s*(?:>.*)?$/.test(lines[end - 1] ?? "")) end -= 1;
  const quoted = lines.slice(end).some((line) => line.trimStart().startsWith(">"));
  if (!quoted) return lines.join("\n");
  // The introduction may be broken over two lines.
  for (const span of [1, 2]) {
    const start = end - span;
    if (start >= 0 && INTRODUCTION.test(lines.slice(start, end).join(" ").trim())) {
      end = start;
      break;
    }
  }
  const own = lines.slice(0, end).join("\n").trim();
  return own === "" ? lines.join("\n") : own;
}
