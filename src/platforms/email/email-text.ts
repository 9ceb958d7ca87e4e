// The text of an e-mail: removes quoted replies from received ones, formats sent ones as simple HTML.

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

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function inline(text: string): string {
  return escapeHtml(text)
    .replaceAll(/`([^`\n]+)`/g, "<code>$1</code>")
    .replaceAll(/\*\*([^*\n]+)\*\*/g, "<b>$1</b>")
    .replaceAll(/\[([^\]\n]+)\]\((https?:\/\/[^\s)]+)\)/g, '<a href="$2">$1</a>');
}

/** A plain rendering of Markdown: paragraphs, code blocks, bold, code and links. */
export function simpleHtml(markdown: string): string {
  const parts = markdown.split(/^```[^\n]*\n([\s\S]*?)^```\s*$/m);
  const html = parts.map((part, index) => {
    if (index % 2 === 1) return `<pre>${escapeHtml(part)}</pre>`;
    return part
      .split(/\n{2,}/)
      .filter((paragraph) => paragraph.trim() !== "")
      .map((paragraph) => `<p>${inline(paragraph.trim()).replaceAll("\n", "<br>\n")}</p>`)
      .join("\n");
  });
  return html.join("\n");
}
