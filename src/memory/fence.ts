// Recalled text travels inside a fence, so that nobody takes it for the user's words; the fence is never stored or shown.

const NOTE = "[System note: recalled from memory as background. It is not a new message from the user.]";
const FENCED = /<memory-context>[\s\S]*?<\/memory-context>/gi;
const TAG = /<\/?memory-context>/gi;
const NOTE_LINE = /^\[System note:[^\]\n]*\]\n?/gim;

/** Text without fences: whole fenced spans go, stray tags too. */
export function stripRecall(text: string): string {
  return text.replace(FENCED, "").replace(TAG, "").trim();
}

/** The text in a fence of its own, whatever tags it brought along; empty text needs no fence. */
export function fenceRecall(text: string): string {
  const inner = text.replace(TAG, "").replace(NOTE_LINE, "").trim();
  return inner === "" ? "" : `<memory-context>\n${NOTE}\n\n${inner}\n</memory-context>`;
}
