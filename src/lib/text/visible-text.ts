// Text from elsewhere, made safe to show: characters that a terminal or a chat would obey or hide become escapes.

/**
 * Control characters, format characters (bidi, zero width, tags), line and paragraph separators, lone surrogates and
 * everything else that is drawn as nothing. Line feed and tab are left: they are drawn as what they are.
 */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** What a terminal obeys: the C0 and C1 control characters and DEL. */
const CONTROL = /(?![\n\t])\p{Cc}/gu;

function escaped(char: string): string {
  if (char === "\r") return "\\r";
  const code = char.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
}

/**
 * The text with every control, format and invisible character written as an escape (`\x1b`, `\r`, `\u202e`). For text
 * that a decision depends on. Line feeds and tabs stay; a backslash of the text itself stays as it is.
 */
export function showControlCharacters(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/**
 * The text with only terminal controls written as escapes. For prose, where joiners and direction marks are part of
 * the writing. A line that ends with CR LF ends with LF.
 */
export function showTerminalControls(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(CONTROL, escaped);
}
