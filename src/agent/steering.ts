// Text that the person adds while a turn runs: it rides on the last tool result, or comes back unspent.
import type { Content } from "../core/message.ts";

export class Steering {
  #pending: string[] = [];

  /** False for blank text: there is nothing to deliver. */
  add(text: string): boolean {
    const clean = text.trim();
    if (clean === "") return false;
    this.#pending.push(clean);
    return true;
  }

  /** What waits, joined with line breaks; nothing waits afterwards. */
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
