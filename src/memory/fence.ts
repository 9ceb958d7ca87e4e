// Recalled text is enclosed in a tag, so that the model does not take it for the user's words. The tag is never stored or shown.

const NOTE = "[System note: recalled from memory as background. It is not a new message from the user.]";
const FENCED = /<memory-context>[\s\S]*?<\/memory-context>/gi;
const TAG = /<\/?memory-context>/gi;
const NOTE_LINE = /^\[System note:[^\]\n]*\]\n?/gim;

/** Removes enclosed text and single tags. */
export function stripRecall(text: string): string {
  return text.replace(FENCED, "").replace(TAG, "").trim();
}

/** Encloses the text, without any tags that it contains. Empty text stays empty. */
export function fenceRecall(text: string): string {
  const inner = text.replace(TAG, "").replace(NOTE_LINE, "").trim();
  return inner === "" ? "" : `<memory-context>\n${NOTE}\n\n${inner}\n</memory-context>`;
}
