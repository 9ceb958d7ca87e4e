// What the user wrote in a conversation: short messages only, because a long one usually contains pasted text of others.

const KEPT = 20;
const MAX_CHARS = 600;

/** The text without quotes, code blocks and attachments, which the user did not write. */
function withoutPasted(text: string): string {
  return (text.split("\n--- Attached Context ---")[0] ?? "")
    .replaceAll(/```[\s\S]*?(?:```|$)/g, "\n")
    .replaceAll(/^\s*>.*$/gm, "")
    .replaceAll(/https?:\/\/\S+/g, " ")
    .trim();
}

export class OwnTexts {
  #texts: string[] = [];

  /** Newest last. */
  get all(): readonly string[] {
    return this.#texts;
  }

  add(text: string): void {
    const own = withoutPasted(text);
    // An empty text is kept too: the newest one decides what the user asks for.
    this.#texts = [...this.#texts, own.length > MAX_CHARS ? "" : own].slice(-KEPT);
  }
}
