// Removes terminal control sequences from text: CSI, OSC, DCS, character sets, single shifts, 8-bit forms.

/** The text of OSC and similar sequences ends with BEL, ST in either form, or where it is implausibly long. */
const STRING_BODY = String.raw`[^\u0007\u001b\u009c]{0,65536}(?:\u0007|\u001b\\|\u009c|(?=\u001b)|$)`;
const SEQUENCES = new RegExp(
  [
    // CSI, 7 and 8 bit: parameters, intermediates, final; one that is cut off at the end of the text as well.
    String.raw`(?:\u001b\[|\u009b)[0-?]*[ -/]*(?:[@-~]|$)`,
    // OSC, DCS, SOS, PM, APC.
    String.raw`(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])${STRING_BODY}`,
    // Escape with intermediates: character sets (ESC ( B), ESC # 8, ESC SP F.
    String.raw`\u001b[ -/]+(?:[0-~]|$)`,
    // Escape with one final character: ESC 7, ESC =, ESC c, ESC M.
    String.raw`\u001b[0-~]`,
    String.raw`\u001b`,
    // The other control characters, except tab, line feed and carriage return.
    String.raw`[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u0084\u0086-\u009f]`,
  ].join("|"),
  "g",
);

/** Line feeds, tabs and carriage returns stay. U+0085, a line break in some encodings, stays as well. */
export function withoutTerminalSequences(text: string): string {
  return text.replaceAll(SEQUENCES, "");
}

const OPEN_TAIL = new RegExp(
  [
    String.raw`(?:\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u001b\u009c]{0,4096}\u001b?|[ -/]*)?`,
    String.raw`|\u009b[0-?]*[ -/]*|[\u009d\u0090\u0098\u009e\u009f][^\u0007\u001b\u009c]{0,4096}\u001b?)$`,
  ].join(""),
);

/** The start of a sequence at the end of a chunk, whose rest may follow in the next one. */
export function splitOpenSequence(text: string): { readonly whole: string; readonly open: string } {
  const at = OPEN_TAIL.exec(text)?.index ?? text.length;
  return { whole: text.slice(0, at), open: text.slice(at) };
}
