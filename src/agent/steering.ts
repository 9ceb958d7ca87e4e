// Guidance that the user sends while a turn runs: added to the last tool result, or returned at the end of the turn.
import type { Content } from "../core/message.ts";

export class Steering {
  #pending: string[] = [];

  /** False for blank text. */
  add(text: string): boolean {
    const clean = text.trim();
    if (clean === "") return false;
    this.#pending.push(clean);
    return true;
  }

  /** Removes and returns the pending texts, joined with line breaks. */
  take(): string | undefined {
    if (this.#pending.length === 0) return undefined;
    const text = this.#pending.join("\n");
    this.#pending = [];
    return text;
  }

  putBack(text: string): void {
    this.#pending.unshift(text);
  }
}

export function withGuidance(content: Content, text: string): Content {
  const guidance = `\n\nUser guidance: ${text}`;
  if (content === null || typeof content === "string") return `${content ?? ""}${guidance}`;
  return [...content, { type: "text", text: guidance }];
}
