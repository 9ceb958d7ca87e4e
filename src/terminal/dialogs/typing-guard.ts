// Keeps typed text from answering a dialog: a key counts only after a pause.

/** A dialog that has just appeared takes no answer for this long. */
const APPEARED_MS = 400;
/** Input within this time means that the user is still typing. */
const TYPING_MS = 500;

export class TypingGuard {
  #until: number;

  /** `lastInput`: when the user last pressed a key before the dialog appeared. */
  constructor(now: number, lastInput: number) {
    this.#until = Math.max(now + APPEARED_MS, lastInput + TYPING_MS);
  }

  /** True while keys belong to a text that the user is still typing. */
  blocks(now: number): boolean {
    return now < this.#until;
  }

  /** Text was typed that is no answer. */
  typed(now: number): void {
    this.#until = Math.max(this.#until, now + TYPING_MS);
  }
}
