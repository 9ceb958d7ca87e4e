// The same text in the forms in which it would be understood: continued lines joined, look-alikes folded, blobs decoded.

export interface View {
  readonly line: number;
  readonly text: string;
  /** How the form was reached; empty for the text as it stands. */
  readonly how: "" | "joined" | "unmasked" | "decoded" | "paragraph";
}

const INVISIBLE =
  /\u034f|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
/** Letters of other scripts that look like Latin ones. */
const LOOKALIKES = new Map(
  "аa еe оo рp сc хx уy іi ѕs ԁd ӏl ոn һh кk мm тt вb нh АA ЕE ОO РP СC ТT ХX ΑA ΒB ΕE ΙI ΟO οo αa"
    .split(" ")
    .map((pair) => [pair.slice(0, 1), pair.slice(1)] as const),
);

export function hasInvisible(text: string): RegExpMatchArray | null {
  return text.match(INVISIBLE);
}

/** Without invisible characters, with plain letters, and without the quotes that split a word (`c""url`, `w\get`). */
export function unmasked(text: string): string {
  const plain = [...text.normalize("NFKC").replaceAll(INVISIBLE, "")]
    .map((char) => LOOKALIKES.get(char) ?? char)
    .join("");
  return plain
    .replaceAll(/(?<=\w)(?:""|''|\\(?=[a-z]))(?=\w)/gi, "")
    .replaceAll(/\$\{?IFS\}?/g, " ")
    .replaceAll(/(?<=\w)\$@(?=\w)/g, "");
}

const BLOB = /[A-Za-z0-9+/]{24,}={0,2}/g;
const HEX_BLOB = /\b(?:[0-9a-f]{2}){16,}\b/gi;

function printable(bytes: Buffer): string | undefined {
  const text = bytes.toString("utf8");
  const odd = [...text].filter((char) => char < " " && !"\n\r\t".includes(char)).length;
  return text.length >= 12 && odd === 0 && !text.includes("\ufffd") ? text : undefined;
}

/** What base64 and hexadecimal blobs in a line say, when they say something readable. */
export function decodedIn(text: string): string[] {
  const found: string[] = [];
  for (const [blob] of text.matchAll(BLOB)) {
    if (blob.length > 20_000) continue;
    const plain = printable(Buffer.from(blob, "base64"));
    if (plain !== undefined) found.push(plain);
  }
  for (const [blob] of text.matchAll(HEX_BLOB)) {
    const plain = printable(Buffer.from(blob, "hex"));
    if (plain !== undefined) found.push(plain);
  }
  return found;
}

/** Prose that was wrapped is read as one sentence; lines that end in `\`, `|` or `&&` go on. */
export function viewsOf(text: string, program: boolean): View[] {
  const lines = text.split("\n");
  const views: View[] = [];
  let start = 0;
  let paragraph: string[] = [];
  const closeParagraph = (end: number): void => {
    if (paragraph.length > 1)
      views.push({ line: start + 1, text: paragraph.join(" ").slice(0, 4_000), how: "paragraph" });
    paragraph = [];
    start = end + 1;
  };
  lines.forEach((line, index) => {
    views.push({ line: index + 1, text: line, how: "" });
    const plain = unmasked(line);
    if (plain !== line) views.push({ line: index + 1, text: plain, how: "unmasked" });
    for (const decoded of decodedIn(line)) views.push({ line: index + 1, text: decoded, how: "decoded" });
    if (/(?:\\|\||&&)\s*$/.test(line) && !line.startsWith("|")) {
      let joined = line;
      for (let next = index + 1; next < lines.length && next < index + 10 && /(?:\\|\||&&)\s*$/.test(joined); next++)
        joined = `${joined.replace(/\\\s*$/, "")} ${(lines[next] ?? "").trim()}`;
      views.push({ line: index + 1, text: unmasked(joined), how: "joined" });
    }
    if (line.trim() === "" || /^\s*(?:```|[-*+]\s|\d+[.)]\s|#|\|)/.test(line)) closeParagraph(index);
    if (!program && line.trim() !== "" && !/^\s*(?:\||```)/.test(line)) {
      if (paragraph.length === 0) start = index;
      paragraph.push(line.trim());
    }
  });
  closeParagraph(lines.length);
  return views;
}
