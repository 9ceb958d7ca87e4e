// Converts the response of a server to text by content type and encoding, or explains why there is no text.

import { convertPage } from "./convert-page.ts";

export interface Body {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly url: string;
}

export type PageText =
  | { readonly ok: true; readonly title: string; readonly content: string }
  | { readonly ok: false; readonly error: string };

/** How far a page is searched for the declaration of its encoding. */
const PROLOGUE = 2_048;
const SNIFFED = 1_024;

/** The characters of Windows-1252 for the codes 128–159. */
const WINDOWS_1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ";

function withWindowsCharacters(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, (code) => WINDOWS_1252[code.charCodeAt(0) - 128] ?? code);
}

function decodeAs(label: string, bytes: Uint8Array): string | null {
  try {
    const decoder = new TextDecoder(label);
    const text = decoder.decode(bytes);
    // Some versions of Node decode Windows-1252 as if it were Latin-1.
    return decoder.encoding === "windows-1252" ? withWindowsCharacters(text) : text;
  } catch {
    // Unknown encoding: the caller tries the next one.
    return null;
  }
}

function latin1(bytes: Uint8Array, end: number): string {
  return new TextDecoder("latin1").decode(bytes.subarray(0, end));
}

function declaredEncoding(body: Body): string | undefined {
  const inHeader = /charset\s*=\s*["']?([\w.:-]+)/i.exec(body.contentType)?.[1];
  if (inHeader) return inHeader;
  const start = latin1(body.bytes, PROLOGUE);
  return (
    /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(start)?.[1] ??
    /<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.:-]+)/i.exec(start)?.[1]
  );
}

/** Uses the byte-order mark, the header, the declaration in the page, UTF-8 if valid, or else Windows-1252. */
export function decodeBody(body: Body): string {
  const { bytes } = body;
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return new TextDecoder().decode(bytes);
  const label = declaredEncoding(body);
  const named = label ? decodeAs(label, bytes) : null;
  if (named !== null) return named;
  return strictUtf8(bytes, false) ?? truncatedUtf8(bytes) ?? decodeAs("windows-1252", bytes) ?? "";
}

function strictUtf8(bytes: Uint8Array, stream: boolean): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream });
  } catch {
    // Not UTF-8.
    return null;
  }
}

/** Accepts an incomplete character at the end, if another one shows that the text is UTF-8. */
function truncatedUtf8(bytes: Uint8Array): string | null {
  const text = strictUtf8(bytes, true);
  return text !== null && /[^\0-\x7f]/.test(text) ? text : null;
}

function detectKind(body: Body): "html" | "json" | "text" | "pdf" | "binary" {
  const type = body.contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const start = latin1(body.bytes, SNIFFED);
  if (type === "application/pdf" || start.startsWith("%PDF-")) return "pdf";
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (type === "application/json" || type.endsWith("+json")) return "json";
  if (
    type.startsWith("text/") ||
    /^application\/(?:xml|javascript|ecmascript|x-yaml|yaml|toml|x-sh|sql|rtf)$/.test(type)
  )
    return "text";
  if (type.endsWith("+xml") && !type.startsWith("image/")) return "text";
  if (type !== "" && type !== "application/octet-stream") return "binary";
  if (start.includes("\u0000")) return "binary";
  return /<(?:!doctype html|html|head|body)\b/i.test(start) ? "html" : "text";
}

function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // Truncated or invalid JSON is returned unchanged.
    return text;
  }
}

/** The last part of the path, as title of files without one. */
function fileName(url: string): string {
  const { host, pathname } = new URL(url);
  return safeDecodeUri(pathname.split("/").filter(Boolean).at(-1) ?? host);
}

function safeDecodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export async function pageText(body: Body): Promise<PageText> {
  const kind = detectKind(body);
  const size = `${body.bytes.length} bytes`;
  if (kind === "pdf")
    return {
      ok: false,
      error: `This is a PDF (${size}). The local reader does not read PDFs: set up a reading service (firecrawl, tavily, exa, parallel), or download the file and convert it with the terminal tool.`,
    };
  if (kind === "binary") {
    const type = body.contentType.split(";", 1)[0] || "binary data";
    return {
      ok: false,
      error: `This is not text but ${type} (${size}). Download it with the terminal tool if you need it.`,
    };
  }
  const text = decodeBody(body);
  if (kind === "html") {
    const page = await convertPage(text, body.url);
    if (page.markdown !== "") return { ok: true, title: page.title, content: page.markdown };
    return {
      ok: false,
      error:
        "The page has no readable text; it is probably rendered by scripts. A reading service or the browser may show it.",
    };
  }
  return { ok: true, title: fileName(body.url), content: kind === "json" ? prettyJson(text) : text };
}
