// The composer: where messages are written. Several lines, history, search, completion, pasted blocks and images.
import { fitToWidth } from "../../lib/text/text-width.ts";
import type { Picture } from "../screen/driver.ts";
import type { Key } from "../screen/keys.ts";
import type { Paint } from "../screen/paint.ts";
import { type CompletionSources, complete } from "./completion.ts";
import { editingKey } from "./editing-keys.ts";
import type { History } from "./history.ts";
import { HistorySearch } from "./history-search.ts";
import { type Layout, layoutText, positionAt } from "./layout.ts";
import { Popup } from "./popup.ts";
import { TextBuffer } from "./text-buffer.ts";
import type { TypedLine } from "./typed-line.ts";

export interface ComposerEvents {
  submit(line: TypedLine): void;
  /** Ctrl-D on an empty line. */
  end(): void;
  /** Ctrl-C. */
  interrupt(): void;
  /** Escape, when it closes nothing here. */
  escape(): void;
  suspend(): void;
  /** Opens the draft in an editor. */
  edit(): void;
  pasteImage(): void;
  /** The whole live part is drawn again. */
  repaint(): void;
  /** Shows or hides the details of tools. */
  details(): void;
  /** Something is to be drawn. */
  changed(): void;
  /** True when the pasted text names images, which are attached. */
  takeImages(text: string): boolean;
}

export interface ComposerSpace {
  readonly width: number;
  readonly rows: number;
  readonly prompt: string;
  /** Shown while nothing is typed. */
  readonly placeholder: string;
}

const MAX_ROWS = 10;
const NEW_LINE = new Set(["alt+enter", "shift+enter", "ctrl+j", "ctrl+enter"]);

export class Composer {
  readonly buffer = new TextBuffer();
  readonly #events: ComposerEvents;
  readonly #history: History;
  readonly #sources: CompletionSources;
  readonly #paint: Paint;
  #popup: Popup | undefined;
  #search: HistorySearch | undefined;
  /** Drops the answers of older completion requests. */
  #request = 0;
  #width = 80;
  #scroll = 0;
  /** The first key of Ctrl-X Ctrl-E was pressed. */
  #prefix = false;
  /** Column that moving up and down returns to. */
  #column: number | undefined;
  /** Paths of attached images. */
  images: readonly string[] = [];

  constructor(options: { events: ComposerEvents; history: History; sources: CompletionSources; paint: Paint }) {
    this.#events = options.events;
    this.#history = options.history;
    this.#sources = options.sources;
    this.#paint = options.paint;
  }

  get empty(): boolean {
    return this.buffer.text === "" && this.images.length === 0;
  }

  /** False when there was nothing to clear. */
  clear(): boolean {
    if (this.empty && !this.#search) return false;
    this.#close();
    this.#search = undefined;
    this.buffer.set("");
    this.images = [];
    return true;
  }

  paste(text: string): void {
    this.#close();
    if (!this.#events.takeImages(text)) this.buffer.paste(text);
  }

  key(key: Key): void {
    if (this.#search) {
      this.#searchKey(key, this.#search);
      return;
    }
    const prefix = this.#prefix;
    this.#prefix = false;
    if (key.text !== "") this.#type(key.text);
    else if (prefix && key.name === "ctrl+e") this.#events.edit();
    else if (!this.#command(key.name)) this.#edit(key.name);
  }

  #type(text: string): void {
    this.#history.leave();
    this.#column = undefined;
    this.buffer.type(text);
    this.#offer();
  }

  #edit(name: string): void {
    const before = this.buffer.text;
    if (!editingKey(this.buffer, name)) return;
    this.#column = undefined;
    if (this.buffer.text !== before) this.#offer();
    else this.#close();
  }

  /** Keys that do more than edit. False when the key is none of them. */
  #command(name: string): boolean {
    if (NEW_LINE.has(name)) this.#newLine();
    else if (name === "enter") this.#enter();
    else if (name === "up" || name === "ctrl+p") this.#vertical(-1);
    else if (name === "down" || name === "ctrl+n") this.#vertical(1);
    else if (name === "tab") this.#tab();
    else if (name === "escape") this.#escape();
    else if (name === "ctrl+c") this.#events.interrupt();
    else if (name === "ctrl+d") this.#deleteOrEnd();
    else if (name === "ctrl+r") this.#startSearch();
    else return this.#outside(name);
    return true;
  }

  /** Keys whose work is done by the screen. */
  #outside(name: string): boolean {
    const actions: { readonly [key: string]: () => void } = {
      "ctrl+z": () => this.#events.suspend(),
      "ctrl+g": () => this.#events.edit(),
      "ctrl+x": () => {
        this.#prefix = true;
      },
      "ctrl+v": () => this.#events.pasteImage(),
      "alt+v": () => this.#events.pasteImage(),
      "ctrl+l": () => this.#events.repaint(),
      "ctrl+o": () => this.#events.details(),
    };
    const action = actions[name];
    action?.();
    return action !== undefined;
  }

  #newLine(): void {
    this.#close();
    this.buffer.type("\n");
  }

  #enter(): void {
    const popup = this.#popup;
    const item = popup?.item;
    if (popup && item && (popup.moved || popup.completion.kind === "reference")) {
      this.#accept(popup);
      if (popup.completion.kind !== "command" || item.insert.endsWith(" ")) return;
    }
    const { text, cursor } = this.buffer;
    // A backslash at the end continues the message on the next line.
    if (cursor === text.length && /(?<!\\)(?:\\\\)*\\$/.test(text)) {
      this.buffer.replace(text.length - 1, text.length, "\n");
      return;
    }
    this.#close();
    if (text.trim() === "" && this.images.length === 0) return;
    const line = { ...this.buffer.typedLine, images: this.images };
    this.buffer.reset();
    this.images = [];
    this.#history.leave();
    this.#events.submit(line);
  }

  #escape(): void {
    if (this.#popup) this.#close();
    else this.#events.escape();
  }

  #deleteOrEnd(): void {
    if (this.empty) this.#events.end();
    else this.buffer.erase("right");
  }

  #tab(): void {
    if (this.#popup) this.#accept(this.#popup);
    else this.#offer(true);
  }

  #accept(popup: Popup): void {
    const { item, completion } = popup;
    this.#close();
    if (!item) return;
    this.buffer.replace(completion.from, completion.to, item.insert);
    // A folder or a command with arguments has more to complete.
    if (completion.kind !== "argument") this.#offer();
  }

  #close(): void {
    this.#popup = undefined;
    this.#request += 1;
  }

  /** Looks for completions of what is typed; `wanted`: the user asked for them. */
  #offer(wanted = false): void {
    const { text, cursor } = this.buffer;
    this.#request += 1;
    const request = this.#request;
    if (!wanted && !/^\/|(?:^|\s)@/.test(text)) {
      this.#popup = undefined;
      return;
    }
    const show = (popup: Popup | undefined) => {
      if (request !== this.#request) return;
      this.#popup = popup;
      this.#events.changed();
    };
    complete(text, cursor, this.#sources).then(
      (found) => show(found ? new Popup(found) : undefined),
      () => show(undefined),
    );
  }

  #layout(): Layout {
    const { text, cursor, isLabel } = this.buffer;
    return layoutText(text, cursor, { width: this.#width, isLabel });
  }

  #vertical(by: 1 | -1): void {
    if (this.#popup) {
      this.#popup.move(by);
      return;
    }
    const layout = this.#layout();
    const row = layout.rows[layout.cursorRow + by];
    if (row && !this.#history.browsing) {
      this.#column ??= layout.cursorColumn;
      this.buffer.moveTo(positionAt(row, this.#column, this.buffer.isLabel));
      return;
    }
    const message = by < 0 ? this.#history.older(this.buffer.text) : this.#history.newer();
    if (message !== undefined) this.buffer.set(message);
  }

  #startSearch(): void {
    this.#close();
    this.#search = new HistorySearch(this.#history);
  }

  #searchKey(key: Key, search: HistorySearch): void {
    const result = search.key(key);
    if (result === "open") return;
    this.#search = undefined;
    if (result === null) return;
    this.buffer.set(result.message);
    if (result.nextKey) this.key(result.nextKey);
  }

  /** Puts text into the composer: a draft to edit, the result of the external editor. */
  setDraft(text: string): void {
    this.#close();
    this.buffer.set(text);
  }

  render({ width, rows, prompt, placeholder }: ComposerSpace): Picture {
    const paint = this.#paint;
    this.#width = Math.max(4, width - 3);
    if (this.#search) return this.#search.render(width, paint);
    const attached = this.images.map((path, index) =>
      paint("label", fitToWidth(`  [image ${index + 1}: ${path}]`, width)),
    );
    const layout = this.#layout();
    const room = Math.max(1, Math.min(MAX_ROWS, rows - attached.length));
    this.#scroll = Math.max(0, Math.min(this.#scroll, layout.rows.length - room));
    if (layout.cursorRow < this.#scroll) this.#scroll = layout.cursorRow;
    if (layout.cursorRow >= this.#scroll + room) this.#scroll = layout.cursorRow - room + 1;
    const shown = layout.rows.slice(this.#scroll, this.#scroll + room);
    const hint = this.buffer.text === "" ? paint("dim", fitToWidth(placeholder, this.#width)) : "";
    const lines = shown.map(({ text }, index) => {
      const first = index + this.#scroll === 0;
      return `${first ? paint("prompt", prompt) : index === 0 ? paint("dim", "⋮ ") : "  "}${text}${first ? hint : ""}`;
    });
    const popup = this.#popup?.render(width, Math.max(1, rows - lines.length), paint) ?? [];
    return {
      lines: [...attached, ...lines, ...popup],
      cursor: { row: attached.length + layout.cursorRow - this.#scroll, column: layout.cursorColumn + 2 },
    };
  }
}
