// Markdown as models write it → Telegram's HTML. What Telegram has no form for becomes readable text.

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Swaps finished pieces for marks that no rule touches, and back again at the end. */
class Pieces {
  readonly #kept: string[] = [];

  keep(html: string): string {
    this.#kept.push(html);
    return `\uE000${this.#kept.length - 1}\uE001`;
  }

  restore(text: string): string {
    let result = text;
    // A link's label may itself hold a kept piece.
    for (let round = 0; round < 3 && result.includes("\uE000"); round++)
      result = result.replace(/\uE000(\d+)\uE001/g, (_, index: string) => this.#kept[Number(index)] ?? "");
    return result;
  }
}

/** Marks that cross each other would become tags that Telegram refuses. */
function isNested(html: string): boolean {
  const open: string[] = [];
  for (const [, slash, name = ""] of html.matchAll(/<(\/?)([a-z-]+)>/g)) {
    if (slash === "") open.push(name);
    else if (open.pop() !== name) return false;
  }
  return open.length === 0;
}

function inline(text: string, pieces: Pieces): string {
  const plain = escapeHtml(
    text
      .replace(/(`+)([^`\n]+?)\1/g, (_, __, code: string) => pieces.keep(`<code>${escapeHtml(code)}</code>`))
      .replace(/!?\[([^\]\n]+)\]\((https?:\/\/[^\s)]+|tg:\/\/[^\s)]+)\)/g, (_, label: string, href: string) =>
        pieces.keep(`<a href="${escapeHtml(href).replaceAll('"', "&quot;")}">${escapeHtml(label)}</a>`),
      ),
  );
  const html = plain
    .replace(/\*\*([^*\n]+?)\*\*|__([^_\n]+?)__/g, (_, a?: string, b?: string) => `<b>${a ?? b}</b>`)
    .replace(/~~([^~\n]+?)~~/g, "<s>$1</s>")
    .replace(/(^|[^\w*])\*([^*\s][^*\n]*?)\*(?![\w*])/g, "$1<i>$2</i>")
    .replace(/(^|[^\w_])_([^_\s][^_\n]*?)_(?![\w_])/g, "$1<i>$2</i>")
    .replace(/\|\|([^|\n]+?)\|\|/g, "<tg-spoiler>$1</tg-spoiler>");
  return isNested(html) ? html : plain;
}

function isTableRule(line: string | undefined): boolean {
  return line?.includes("-") === true && /^\s*\|?[\s:|-]+\|?\s*$/.test(line);
}

function cells(line: string): string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}

/** Tables have no form in Telegram: aligned columns in a code block keep them readable. */
function table(rows: readonly string[]): string {
  const grid = rows.filter((_, index) => index !== 1).map(cells);
  const widths: number[] = [];
  for (const row of grid)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  const lines = grid.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `<pre>${escapeHtml(lines.join("\n"))}</pre>`;
}

function line(text: string, pieces: Pieces): string {
  const heading = /^#{1,6}\s+(.*)$/.exec(text);
  if (heading) return `<b>${inline(heading[1] ?? "", pieces).replaceAll(/<\/?b>/g, "")}</b>`;
  const bullet = /^(\s*)[-*+]\s+(.*)$/.exec(text);
  if (bullet) return `${bullet[1] ?? ""}• ${inline(bullet[2] ?? "", pieces)}`;
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(text)) return "———";
  return inline(text, pieces);
}

function block(lines: readonly string[], at: number, pieces: Pieces): { html: string; next: number } | null {
  const current = lines[at] ?? "";
  const fence = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(current);
  if (fence) {
    const mark = fence[1] ?? "```";
    let end = at + 1;
    while (end < lines.length && !(lines[end] ?? "").trimStart().startsWith(mark)) end++;
    const code = escapeHtml(lines.slice(at + 1, end).join("\n"));
    const language = fence[2] ? ` class="language-${escapeHtml(fence[2])}"` : "";
    return {
      html: pieces.keep(language ? `<pre><code${language}>${code}</code></pre>` : `<pre>${code}</pre>`),
      next: end + 1,
    };
  }
  if (current.includes("|") && isTableRule(lines[at + 1])) {
    let end = at + 2;
    while (end < lines.length && (lines[end] ?? "").includes("|")) end++;
    return { html: pieces.keep(table(lines.slice(at, end))), next: end };
  }
  if (/^\s*>/.test(current)) {
    let end = at;
    while (end < lines.length && /^\s*>/.test(lines[end] ?? "")) end++;
    const quoted = lines.slice(at, end).map((each) => line(each.replace(/^\s*> ?/, ""), pieces));
    return { html: `<blockquote>${quoted.join("\n")}</blockquote>`, next: end };
  }
  return null;
}

export function toTelegramHtml(markdown: string): string {
  const pieces = new Pieces();
  const lines = markdown.replaceAll(/[\uE000\uE001]/g, "").split("\n");
  const out: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const found = block(lines, at, pieces);
    out.push(found ? found.html : line(lines[at] ?? "", pieces));
    at = found ? found.next : at + 1;
  }
  return pieces.restore(out.join("\n"));
}
