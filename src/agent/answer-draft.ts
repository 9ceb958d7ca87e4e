// Keeps the streamed part of an answer on disk until the message is stored.
import { contentText } from "../core/message.ts";
import type { AnswerDrafts } from "../core/store/answer-draft.ts";
import type { MessageLog } from "./message-log.ts";
import type { ConversationParts } from "./parts.ts";
import { openCalls } from "./tools/open-calls.ts";

/** The longest time in which a killed process loses text that was shown. */
const EVERY_MS = 500;

export class AnswerDraftWriter {
  readonly #drafts: AnswerDrafts;
  readonly #sessionId: () => string;
  #text = "";
  #timer: NodeJS.Timeout | undefined;
  #savedFor: string | undefined;

  constructor(drafts: AnswerDrafts, sessionId: () => string) {
    this.#drafts = drafts;
    this.#sessionId = sessionId;
  }

  /** The whole text so far. */
  update(text: string): void {
    this.#text = text;
    this.#timer ??= setTimeout(() => this.#save(), EVERY_MS);
  }

  #save(): void {
    this.#timer = undefined;
    if (this.#text.trim() === "") return;
    this.#savedFor = this.#sessionId();
    try {
      this.#drafts.save({ sessionId: this.#savedFor, text: this.#text });
    } catch {
      // The answer itself is more important; it is stored when it is complete.
      this.#savedFor = undefined;
    }
  }

  /** The text is stored, or is not part of an answer. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#text = "";
    const session = this.#savedFor;
    this.#savedFor = undefined;
    if (session === undefined) return;
    try {
      this.#drafts.remove(session);
    } catch {
      // A draft that stays is compared with the stored messages when the session is resumed.
      this.#savedFor = undefined;
    }
  }
}

/** Stores what a killed process had streamed of an answer. Returns its number of characters. */
export async function keepAbandonedAnswer({ drafts }: ConversationParts, log: MessageLog): Promise<number> {
  const text = drafts?.takeAbandoned(log.sessionId)?.trim() ?? "";
  if (text === "" || openCalls(log.messages).length > 0) return 0;
  const last = log.messages.at(-1);
  if (last?.role === "assistant" && contentText(last.content).startsWith(text)) return 0;
  await log.append([{ role: "assistant", content: text, finish_reason: "interrupted" }]);
  return text.length;
}
