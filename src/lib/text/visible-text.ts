// Escapes characters of untrusted text that a terminal or chat would interpret or hide.

/**
 * Control characters, format characters (bidi, zero width, tags), line and paragraph separators, lone surrogates and
 * everything else that is invisible. Line feed and tab are kept.
 */
const INVISIBLE_CHARACTERS = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Characters that a terminal interprets: C0 and C1 control characters and DEL. */
const CONTROL = /(?![\n\t])\p{Cc}/gu;

function escaped(char: string): string {
  if (char === "\r") return "\\r";
  const code = char.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
}

/**
 * Writes every control, format and invisible character as an escape (`\x1b`, `\r`, `\u202e`), for text that a decision
 * depends on. Line feeds, tabs and backslashes stay.
 */
export function showControlCharacters(text: string): string {
  return text.replace(INVISIBLE_CHARACTERS, escaped);
}

/**
 * Writes only terminal controls as escapes, for prose, where joiners and direction marks belong to the text. CR LF becomes
 * LF.
 */
export function showTerminalControls(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(CONTROL, escaped);
}
