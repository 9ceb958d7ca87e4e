// Ctrl-R: searches the messages that were sent before.
import { plainLineText } from "../../lib/terminal/styled-line.ts";
import { displayWidth, fitToWidth } from "../../lib/text/text-width.ts";
import type { Picture } from "../screen/driver.ts";
import type { Key } from "../screen/keys.ts";
import type { Paint } from "../screen/paint.ts";
import type { History } from "./history.ts";

const SHOWN = 6;

/** The message that was chosen, with a key that the composer still handles; null when the search was left. */
export type SearchResult = "open" | null | { readonly message: string; readonly nextKey?: Key | undefined };

export class HistorySearch {
  readonly #history: History;
  #query = "";
  #found: readonly string[];
  #index = 0;

  constructor(history: History) {
    this.#history = history;
    this.#found = history.search("");
  }

  key(key: Key): SearchResult {
    if (key.text !== "") return this.#search(this.#query + key.text);
    switch (key.name) {
      case "backspace":
        return this.#search([...this.#query].slice(0, -1).join(""));
      case "ctrl+r":
      case "down":
      case "ctrl+n":
        this.#index = Math.min(this.#index + 1, Math.max(0, this.#found.length - 1));
        return "open";
      case "ctrl+s":
      case "up":
      case "ctrl+p":
        this.#index = Math.max(0, this.#index - 1);
        return "open";
      case "escape":
      case "ctrl+c":
      case "ctrl+g":
        return null;
      default:
        return this.#choose(key);
    }
  }

  #choose(key: Key): SearchResult {
    const message = this.#found[this.#index];
    if (message === undefined) return key.name === "enter" ? null : "open";
    // Enter takes the message into the composer; other keys edit it there.
    return { message, nextKey: key.name === "enter" || key.name === "tab" ? undefined : key };
  }

  #search(query: string): "open" {
    this.#query = query;
    this.#found = this.#history.search(query);
    this.#index = 0;
    return "open";
  }

  render(width: number, paint: Paint): Picture {
    const from = Math.max(0, Math.min(this.#index - SHOWN + 1, this.#found.length - SHOWN));
    const rows = this.#found.slice(from, from + SHOWN).map((message, at) => {
      const text = fitToWidth(plainLineText(message.replaceAll(/\s+/gu, " ")), width - 4);
      return from + at === this.#index ? paint("selected", `❯ ${text}`) : `  ${text}`;
    });
    const head = `history: ${this.#query}`;
    return {
      lines: [
        `${paint("prompt", "history: ")}${fitToWidth(plainLineText(this.#query), width - 12)}`,
        ...(rows.length > 0 ? rows : [paint("dim", "  nothing matches")]),
        paint("dim", fitToWidth("  Enter takes it · Ctrl-R older · Esc leaves", width)),
      ],
      cursor: { row: 0, column: Math.min(width - 1, displayWidth(head)) },
    };
  }
}
