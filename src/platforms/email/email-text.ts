// The words of a letter: HTML to text on the way in, text to simple HTML on the way out.

const ENTITIES: { readonly [name: string]: string } = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  hellip: "…",
};

function decode(text: string): string {
  return text.replaceAll(/&(#x?[0-9a-f]{1,6}|\w{2,8});/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : whole;
  });
}

/** Paragraphs and line breaks are kept, everything else of the form is dropped. */
export function htmlToText(html: string): string {
  const text = html
    .replaceAll(/<!--[\s\S]*?-->/g, "")
    .replaceAll(/<(script|style|head|title)\b[\s\S]*?<\/\1\s*>/gi, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/<(?:br|\/p|\/div|\/li|\/tr|\/h[1-6]|\/blockquote|hr)\b[^>]*>/gi, "\n")
    .replaceAll(/<li\b[^>]*>/gi, "- ")
    .replaceAll(/<a\b[^>]*\bhref="(https?:[^"]+)"[^>]*>([\s\S]*?)<\/a>/gi, "$2 ($1)")
    .replaceAll(/<[^>]*>/g, "");
  return decode(text)
    .split("\n")
    .map((line) => line.trim())
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

/** How mail programs introduce the letter that they quote, in some languages. */
const INTRODUCTION =
  /^(?:On\b.{5,200}\bwrote:|Am\b.{5,200}\bschrieb\b.{0,200}:|Le\b.{5,200}\ba écrit\s?:|El\b.{5,200}\bescribió:|-{2,}\s*(?:Original Message|Forwarded message)\s*-{2,})$/i;

/** Cuts the quoted letter at the end; words between and below quotes stay. */
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
