// Decodes text: base64, hexadecimal, percent encoding, escapes, entities, character codes, ROT13, reversed words.

const BLOB = /[A-Za-z0-9+/_-]{20,}={0,2}/g;
const HEX_BLOB = /\b(?:[0-9a-f]{2}){12,}\b/gi;
const MAX_BLOB = 20_000;

function printable(bytes: Buffer, least = 12): string | undefined {
  const text = bytes.toString("utf8");
  const odd = [...text].filter((char) => char < " " && !"\n\r\t".includes(char)).length;
  return text.length >= least && odd === 0 && !text.includes("\ufffd") ? text : undefined;
}

/** PowerShell encodes UTF-16: every second byte is zero. */
function wide(bytes: Buffer): string | undefined {
  if (bytes.length < 16 || bytes.length % 2 !== 0 || bytes[1] !== 0 || bytes[3] !== 0) return undefined;
  return printable(Buffer.from(bytes.toString("utf16le")), 6);
}

function fromBlob(blob: string): string | undefined {
  const bytes = Buffer.from(blob, "base64");
  return wide(bytes) ?? printable(bytes);
}

/** The readable text of base64 and hexadecimal blobs in a line, also when encoded twice. */
export function decodedIn(text: string, depth = 0): string[] {
  if (!/[A-Za-z0-9+/_-]{20}/.test(text)) return [];
  const found: string[] = [];
  const add = (plain: string | undefined): void => {
    if (plain === undefined) return;
    found.push(plain, ...(depth < 2 ? decodedIn(plain, depth + 1) : []));
  };
  for (const [blob] of text.matchAll(BLOB)) if (blob.length <= MAX_BLOB) add(fromBlob(blob));
  for (const [blob] of text.matchAll(HEX_BLOB)) if (blob.length <= MAX_BLOB) add(printable(Buffer.from(blob, "hex")));
  return found;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: " " };

function shown(code: number, raw: string): string {
  return code >= 32 && code < 127 ? String.fromCharCode(code) : raw;
}

/** Decodes escapes, percent encoding, entities and character codes. Single occurrences are common and are not decoded. */
export function unescaped(text: string): string {
  if (!/[\\%&]|chr\(|\[char\]|fromCharCode/i.test(text)) return text;
  let plain = text;
  if (/(?:\\x[0-9a-f]{2}){3}/i.test(plain))
    plain = plain.replaceAll(/\\x([0-9a-f]{2})/gi, (raw, code: string) => shown(Number.parseInt(code, 16), raw));
  if (/(?:\\u\{?00[0-9a-f]{2}\}?){3}/i.test(plain))
    plain = plain.replaceAll(/\\u\{?00([0-9a-f]{2})\}?/gi, (raw, code: string) =>
      shown(Number.parseInt(code, 16), raw),
    );
  if (/(?:\\0?[0-7]{3}){3}/.test(plain))
    plain = plain.replaceAll(/\\0?([0-7]{3})/g, (raw, code: string) => shown(Number.parseInt(code, 8), raw));
  if ((plain.match(/%[0-9a-f]{2}/gi)?.length ?? 0) >= 3)
    plain = plain.replaceAll(/%([0-9a-f]{2})/gi, (raw, code: string) => shown(Number.parseInt(code, 16), raw));
  if (/&(?:#x?[0-9a-f]+|lt|gt|amp|quot);/i.test(plain))
    plain = plain
      .replaceAll(/&#(\d{2,3});/g, (raw, code: string) => shown(Number(code), raw))
      .replaceAll(/&#x([0-9a-f]{2});/gi, (raw, code: string) => shown(Number.parseInt(code, 16), raw))
      .replaceAll(/&(lt|gt|amp|quot|apos|nbsp);/g, (raw, name: string) => ENTITIES[name] ?? raw);
  return plain
    .replaceAll(/\bchr\(\s*(\d{2,3})\s*\)|\[char\]\s*(\d{2,3})\b/gi, (raw, a?: string, b?: string) =>
      JSON.stringify(shown(Number(a ?? b), raw)),
    )
    .replaceAll(/(?:String\.)?fromCharCode\(\s*([\d\s,]{5,})\)/g, (_, codes: string) =>
      JSON.stringify(
        codes
          .split(",")
          .map((code) => shown(Number(code), ""))
          .join(""),
      ),
    );
}

export function rot13(text: string): string {
  return text.replaceAll(/[a-z]/gi, (char) => {
    const base = char <= "Z" ? 65 : 97;
    return String.fromCharCode(((char.charCodeAt(0) - base + 13) % 26) + base);
  });
}

export const backwards = (text: string): string => [...text].reverse().join("");
