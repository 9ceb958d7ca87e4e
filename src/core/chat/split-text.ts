// Cuts a long answer into messages: at line ends where it can, never inside a code block without closing it.

export interface SplitRules {
  readonly max: number;
  readonly unit: "utf16" | "codepoints" | "bytes";
}

/** Room for ` (12/34)` at the end of each part. */
const COUNTER = 10;

export function measure(text: string, unit: SplitRules["unit"]): number {
  if (unit === "bytes") return new TextEncoder().encode(text).length;
  return unit === "utf16" ? text.length : [...text].length;
}

/** The most characters (as string index) whose length fits. */
function fitting(text: string, rules: SplitRules): number {
  if (measure(text, rules.unit) <= rules.max) return text.length;
  let low = 0;
  let high = Math.min(text.length, rules.max);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (measure(text.slice(0, middle), rules.unit) <= rules.max) low = middle;
    else high = middle - 1;
  }
  // A pair of code units that is one character stays together.
  const code = text.charCodeAt(low - 1);
  return code >= 0xd800 && code <= 0xdbff && low > 1 ? low - 1 : Math.max(low, 1);
}

function insideInlineCode(text: string): boolean {
  const line = text.slice(text.lastIndexOf("\n") + 1);
  return (line.match(/`/g)?.length ?? 0) % 2 === 1;
}

function cutAt(text: string, most: number): number {
  const half = Math.floor(most / 2);
  const newline = text.lastIndexOf("\n", most);
  if (newline >= half) return newline;
  let space = text.lastIndexOf(" ", most);
  while (space >= half && insideInlineCode(text.slice(0, space))) space = text.lastIndexOf(" ", space - 1);
  return space >= half ? space : most;
}

/** The fence that is open at the end of the text, for example "```ts"; null outside code. */
function openFence(text: string): string | null {
  let open: string | null = null;
  for (const line of text.split("\n")) {
    const match = /^\s*(`{3,}|~{3,})\s*(\S*)/.exec(line);
    if (!match) continue;
    open = open === null ? `${match[1]}${match[2] ?? ""}` : null;
  }
  return open;
}

export function splitText(text: string, rules: SplitRules): string[] {
  if (rules.max <= 0 || measure(text, rules.unit) <= rules.max) return [text];
  const parts: string[] = [];
  let rest = text;
  while (measure(rest, rules.unit) > rules.max - COUNTER) {
    // An open block needs a closing fence here and its opening line in the next part.
    const room = { ...rules, max: Math.max(rules.max - COUNTER - 4, 1) };
    const cut = cutAt(rest, fitting(rest, room));
    const part = rest.slice(0, cut);
    const fence = openFence(part);
    parts.push(fence ? `${part.trimEnd()}\n${fence.replace(/[^`~].*$/, "")}` : part.trimEnd());
    const tail = rest.slice(cut).replace(/^[ \n]/, "");
    const next = fence ? `${fence}\n${tail}` : tail;
    // A fence line longer than the limit would make this loop endless.
    rest = next.length < rest.length ? next : tail;
  }
  if (rest.trim() !== "") parts.push(rest);
  if (parts.length === 1) return parts;
  // A fence that is followed by text does not close a block.
  return parts.map(
    (part, index) => `${part}${/(?:^|\n)\s*(?:`{3,}|~{3,})$/.test(part) ? "\n" : " "}(${index + 1}/${parts.length})`,
  );
}
