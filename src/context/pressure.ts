// Tells the person, never the model, that compaction is near: once, until the pressure drops again.

const PRESSURE = 0.85;
const count = (value: number) => value.toLocaleString("en-US");

export class PressureNotice {
  #shown = false;

  /** The notice when it is due. `promptTokens` is what the last request took. */
  check(promptTokens: number, thresholdTokens: number): string | null {
    const share = thresholdTokens > 0 ? promptTokens / thresholdTokens : 0;
    if (share < PRESSURE) {
      this.#shown = false;
      return null;
    }
    if (this.#shown) return null;
    this.#shown = true;
    const percent = Math.min(100, Math.floor(share * 100));
    return `Context is ${percent}% to compaction threshold (${count(promptTokens)}/${count(thresholdTokens)} tokens)`;
  }
}
