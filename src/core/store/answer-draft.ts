// The text of an answer that is still being streamed, kept in case that the process is killed.

export interface AnswerDraft {
  readonly sessionId: string;
  readonly text: string;
}

export interface AnswerDrafts {
  /** Keeps the text as it is so far; it survives the end of the process. */
  save(draft: AnswerDraft): void;
  /** The answer is stored, or does not count. */
  remove(sessionId: string): void;
  /** Takes out what a process that no longer runs has left of this session. Null when there is nothing. */
  takeAbandoned(sessionId: string): string | null;
}
