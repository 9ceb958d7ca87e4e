// Messages sent before, over all runs: read at the first use, searched, and extended.
import { appendFile, readFile } from "node:fs/promises";

const MAX_ENTRIES = 1_000;
/** Longer messages are not kept in the file. */
const MAX_REMEMBERED = 5_000;

/** Entries in the file: a comment with the time, then each line of the message after a plus sign. Older files have one message a line. */
function parseEntries(text: string): string[] {
  const entries: string[] = [];
  let lines: string[] = [];
  const end = () => {
    if (lines.length > 0) entries.push(lines.join("\n"));
    lines = [];
  };
  for (const line of text.split("\n")) {
    if (line.startsWith("+")) {
      lines.push(line.slice(1));
      continue;
    }
    end();
    if (line !== "" && !line.startsWith("# ")) entries.push(line);
  }
  end();
  return entries;
}

function formatEntry(message: string): string {
  const lines = message.replaceAll("\r\n", "\n").split("\n");
  return `\n# ${new Date().toISOString()}\n${lines.map((line) => `+${line}\n`).join("")}`;
}

export class History {
  readonly #file: string;
  /** Oldest first. */
  #entries: string[] = [];
  #index: number | undefined;
  #draft = "";

  constructor(file: string) {
    this.#file = file;
  }

  async load(): Promise<void> {
    const text = await readFile(this.#file, "utf8").catch(() => "");
    this.#entries = [...parseEntries(text).slice(-MAX_ENTRIES), ...this.#entries];
  }

  get browsing(): boolean {
    return this.#index !== undefined;
  }

  /** The message before the shown one; undefined at the oldest. `draft` comes back after the newest. */
  older(draft: string): string | undefined {
    const index = (this.#index ?? this.#entries.length) - 1;
    if (index < 0) return undefined;
    if (this.#index === undefined) this.#draft = draft;
    this.#index = index;
    return this.#entries[index];
  }

  newer(): string | undefined {
    if (this.#index === undefined) return undefined;
    this.#index += 1;
    if (this.#index < this.#entries.length) return this.#entries[this.#index];
    this.#index = undefined;
    return this.#draft;
  }

  leave(): void {
    this.#index = undefined;
  }

  /** Messages that contain the text, newest first, each once. */
  search(part: string): string[] {
    const wanted = part.toLowerCase();
    const found = new Set<string>();
    for (const entry of this.#entries.toReversed()) if (entry.toLowerCase().includes(wanted)) found.add(entry);
    return [...found];
  }

  async add(message: string): Promise<void> {
    this.#index = undefined;
    if (message.trim() === "" || message === this.#entries.at(-1)) return;
    this.#entries.push(message);
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
    if (message.length > MAX_REMEMBERED) return;
    // A history that cannot be written must not stop the conversation.
    await appendFile(this.#file, formatEntry(message), { mode: 0o600 }).catch(() => undefined);
  }
}
