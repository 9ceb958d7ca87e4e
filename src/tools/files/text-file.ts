// Decodes and encodes text files: encoding, byte-order mark and line ends are detected on reading and kept on writing.

export type Encoding = "utf-8" | "utf-16le" | "utf-16be" | "latin1";

export interface TextForm {
  readonly encoding: Encoding;
  readonly bom: boolean;
  /** The line end of most lines. */
  readonly eol: "\n" | "\r\n";
}

export interface TextFile {
  /** Line ends as `\n`; no byte-order mark. */
  readonly text: string;
  readonly form: TextForm;
}

export const PLAIN: TextForm = { encoding: "utf-8", bom: false, eol: "\n" };

function detectEncoding(bytes: Uint8Array): { encoding: Encoding; bomLength: number } {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { encoding: "utf-8", bomLength: 3 };
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { encoding: "utf-16le", bomLength: 2 };
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: "utf-16be", bomLength: 2 };
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return { encoding: "utf-8", bomLength: 0 };
  } catch {
    return { encoding: "latin1", bomLength: 0 };
  }
}

function decode(bytes: Uint8Array, encoding: Encoding): string {
  if (encoding === "latin1") return Buffer.from(bytes).toString("latin1");
  return new TextDecoder(encoding).decode(bytes);
}

function dominantEol(text: string): "\n" | "\r\n" {
  const crlf = text.split("\r\n").length - 1;
  const all = text.split("\n").length - 1;
  return crlf > 0 && crlf * 2 >= all ? "\r\n" : "\n";
}

export function decodeText(bytes: Uint8Array): TextFile {
  const { encoding, bomLength } = detectEncoding(bytes);
  const raw = decode(bytes.subarray(bomLength), encoding);
  const eol = dominantEol(raw);
  return { text: eol === "\r\n" ? raw.replaceAll("\r\n", "\n") : raw, form: { encoding, bom: bomLength > 0, eol } };
}

export function encodeText(text: string, form: TextForm): Uint8Array {
  const lines = form.eol === "\r\n" ? text.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n") : text;
  const marked = form.bom ? `\uFEFF${lines}` : lines;
  if (form.encoding === "utf-8") return Buffer.from(marked, "utf8");
  if (form.encoding === "utf-16le") return Buffer.from(marked, "utf16le");
  if (form.encoding === "utf-16be") return Buffer.from(marked, "utf16le").swap16();
  // Text that Latin-1 cannot encode is written as UTF-8 instead of losing characters.
  return [...marked].every((char) => (char.codePointAt(0) ?? 0) <= 0xff)
    ? Buffer.from(marked, "latin1")
    : Buffer.from(marked, "utf8");
}

const BINARY_EXTENSIONS = new Set(
  "7z a avi bin bz2 class dat db dll dmg doc docx dylib eot exe flac gz heic ico iso jar jpeg jpg gif bmp webp tiff tif png key lz4 m4a mkv mov mp3 mp4 o odt ogg otf pdf ppt pptx psd pyc pyo rar rpm so sqlite sqlite3 tar tgz ttf wasm wav webm woff woff2 xls xlsx xz zip zst".split(
    " ",
  ),
);
const IMAGE_EXTENSIONS = new Set("png jpg jpeg gif webp bmp tiff tif ico heic".split(" "));

function fileExtension(path: string): string {
  return /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

export function isImagePath(path: string): boolean {
  return IMAGE_EXTENSIONS.has(fileExtension(path));
}

/** Decides by extension, NUL bytes, or more than 30 % control characters in `head`. */
export function looksBinary(path: string, head: Uint8Array): boolean {
  if (BINARY_EXTENSIONS.has(fileExtension(path))) return true;
  const utf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff);
  if (utf16) return false;
  if (head.includes(0)) return true;
  const sample = head.subarray(0, 1000);
  let odd = 0;
  for (const byte of sample) if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) odd++;
  return sample.length > 0 && odd / sample.length > 0.3;
}
