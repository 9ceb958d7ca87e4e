// What a chat sees during a turn: the partial answer, one message with tool progress, the typing indicator.

import type { Destination, Platform } from "../../core/chat/platform.ts";
import type { Mailbox } from "../../core/store/mailbox.ts";
import { settlesWithin } from "../../lib/async/with-timeout.ts";
import { withoutMarkers } from "./media.ts";
import type { Sender } from "./sender.ts";

const TYPING_MS = 4_000;
/** Delay of the typing indicator: an immediate answer needs none. */
const FIRST_TYPING_MS = 50;
const PROGRESS_MS = 1_500;
const FIRST_CHARS = 4;
const PREVIEW = 40;
/** How long the final answer waits for the message that shows the partial one. */
const HAND_OVER_MS = 10_000;

export interface StreamSettings {
  readonly everyMs: number;
  readonly chars: number;
  readonly cursor: string;
  /** A partial answer older than this is replaced by a new message at the end; 0 for never. */
  readonly freshMs: number;
}

export interface LiveSettings {
  readonly stream: StreamSettings | null;
  readonly progress: "off" | "new" | "all" | "verbose";
  /** Progress messages are removed at the end. */
  readonly cleanUp: boolean;
}

export interface LiveParts {
  readonly mailbox: Mailbox;
  readonly sender: Sender;
  readonly platform: Platform;
  readonly to: Destination;
  /** Prefix of the keys of these messages. */
  readonly key: string;
  readonly settings: LiveSettings;
  /** Deletes a sent message. */
  remove(messageId: string): void;
}

/** A message that is sent once and then edited. */
class LiveMessage {
  readonly #parts: LiveParts;
  readonly #name: string;
  readonly #silent: boolean;
  #sent: Promise<void> | undefined;
  #text = "";
  #shown = "";
  #removed = false;
  /** The final edit is made by the caller. */
  #closed = false;
  #messageId: string | null = null;
  #sentAt = 0;

  constructor(parts: LiveParts, name: string, silent: boolean) {
    this.#parts = parts;
    this.#name = name;
    this.#silent = silent;
  }

  /** Time since the message was sent. */
  get ageMs(): number {
    return this.#messageId ? Date.now() - this.#sentAt : 0;
  }

  set(text: string): void {
    this.#text = text;
    if (text.trim() === "" || text === this.#shown) return;
    if (this.#messageId) this.#change();
    // A failure is ignored: the final answer is sent anyway.
    else this.#sent ??= this.#start().catch(() => undefined);
  }

  async #start(): Promise<void> {
    const { mailbox, sender, platform, to, key } = this.#parts;
    this.#shown = this.#text;
    const payload = { type: "text" as const, text: this.#text, silent: this.#silent };
    const rows = await mailbox.enqueue([
      { key: `${key}:${this.#name}`, platform: platform.name, to, payload, ephemeral: true },
    ]);
    const row = rows[0];
    if (!row) return;
    const sent = sender.whenSent(row);
    sender.add(rows);
    this.#messageId = await sent;
    this.#sentAt = Date.now();
    if (this.#removed) this.remove();
    else if (this.#text !== this.#shown) this.#change();
  }

  #change(): void {
    if (!this.#messageId || this.#closed) return;
    this.#shown = this.#text;
    const { sender, platform, to } = this.#parts;
    sender.editSoon(platform.name, to, { messageId: this.#messageId, message: { text: this.#text } });
  }

  /** Deletes the message, also when it is still being sent. */
  remove(): void {
    this.#removed = true;
    if (this.#messageId) this.#parts.remove(this.#messageId);
  }

  settle(): void {
    this.#closed = true;
    const { sender, platform, to } = this.#parts;
    if (this.#messageId) sender.cancelEdit(platform.name, to, this.#messageId);
  }

  /** The message id for the final edit. A message that is sent too late is deleted. */
  async handOver(ms: number): Promise<string | null> {
    this.settle();
    if (this.#sent) await settlesWithin(this.#sent, ms);
    if (!this.#messageId) this.remove();
    return this.#messageId;
  }
}

export class LiveReply {
  readonly #parts: LiveParts;
  #stream: LiveMessage | null;
  #progress: LiveMessage;
  readonly #shownProgress: LiveMessage[] = [];
  #segments = 0;
  #lines: { text: string; count: number }[] = [];
  #lastTool = "";
  #text = "";
  #streamedAt = 0;
  #streamedLength = 0;
  #progressAt = 0;
  #progressTimer: NodeJS.Timeout | undefined;
  #typing: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#stream = parts.settings.stream && parts.platform.capabilities.edit ? this.#answer() : null;
    this.#progress = new LiveMessage(parts, "progress0", true);
    this.#shownProgress.push(this.#progress);
  }

  /** The first message of an answer notifies the user; edits cannot. */
  #answer(): LiveMessage {
    return new LiveMessage(this.#parts, `stream${this.#segments}`, false);
  }

  /** The id of the message with the partial answer, for the final edit. It is not updated afterwards. */
  async takeStream(): Promise<string | null> {
    return (await this.#stream?.handOver(HAND_OVER_MS)) ?? null;
  }

  /** The same at the end of the turn. An old message is deleted instead: users would not notice its edit. */
  async takeFinal(): Promise<string | null> {
    const shown = this.#stream;
    const freshMs = this.#parts.settings.stream?.freshMs ?? 0;
    const id = await this.takeStream();
    if (!shown || id === null || freshMs === 0 || shown.ageMs <= freshMs) return id;
    if (!this.#parts.platform.capabilities.delete) return id;
    shown.remove();
    return null;
  }

  /** Does nothing after the end of the reply: a late answer to a question must not switch the indicator on again. */
  typing(on: boolean): void {
    clearTimeout(this.#typing);
    if (!on || this.#ended || !this.#parts.platform.capabilities.typing) return;
    const { sender, platform, to } = this.#parts;
    const showIn = (ms: number): void => {
      this.#typing = setTimeout(() => {
        sender.typing(platform.name, to);
        showIn(TYPING_MS);
      }, ms).unref();
    };
    showIn(FIRST_TYPING_MS);
  }

  delta(text: string): void {
    this.#text += text;
    const { stream } = this.#parts.settings;
    if (!this.#stream || !stream) return;
    const visible = withoutMarkers(this.#text);
    if (visible.trim().length < FIRST_CHARS) return;
    const now = Date.now();
    const due = now - this.#streamedAt >= stream.everyMs && visible.length - this.#streamedLength >= stream.chars;
    if (!due && this.#streamedLength > 0) return;
    this.#streamedAt = now;
    this.#streamedLength = visible.length;
    this.#stream.set(this.#cut(visible) + stream.cursor);
  }

  /** Cuts the partial answer to one message; the final answer is split into several. */
  #cut(text: string): string {
    const limit = this.#parts.platform.maxLength;
    const cursor = this.#parts.settings.stream?.cursor ?? "";
    return limit > 0 ? text.slice(0, Math.max(500, limit - cursor.length - 100)) : text;
  }

  /** Stops updating; the partial answer stays. */
  stopStream(): void {
    if (this.#streamedLength > 0) this.#stream?.set(this.#cut(withoutMarkers(this.#text)));
    this.#stream = null;
  }

  restart(): void {
    this.#text = "";
    this.#streamedLength = 0;
  }

  tool(name: string, preview: string): void {
    const { progress } = this.#parts.settings;
    if (progress === "off" || !this.#parts.platform.capabilities.edit) return;
    if (progress === "new" && name === this.#lastTool) return;
    this.#lastTool = name;
    const cut = progress === "verbose" ? preview : preview.slice(0, PREVIEW);
    const text = `🔧 ${name}${cut ? ` ${cut.replaceAll("\n", " ")}` : ""}`;
    const last = this.#lines.at(-1);
    if (last?.text === text) last.count += 1;
    else this.#lines.push({ text, count: 1 });
    this.#showProgress();
  }

  #showProgress(): void {
    const wait = this.#progressAt + PROGRESS_MS - Date.now();
    if (wait > 0) {
      this.#progressTimer ??= setTimeout(() => {
        this.#progressTimer = undefined;
        this.#showProgress();
      }, wait);
      this.#progressTimer.unref();
      return;
    }
    this.#progressAt = Date.now();
    const lines = this.#lines.slice(-12).map(({ text, count }) => (count > 1 ? `${text} (×${count})` : text));
    this.#progress.set(lines.join("\n"));
  }

  /** Called after a text between tool calls was sent: progress continues in a new message. */
  newSegment(): void {
    this.#lines = [];
    this.#lastTool = "";
    this.#segments += 1;
    this.#progress = new LiveMessage(this.#parts, `progress${this.#segments}`, true);
    this.#shownProgress.push(this.#progress);
    if (this.#stream) this.#stream = this.#answer();
    this.restart();
  }

  end(): void {
    this.#ended = true;
    this.typing(false);
    clearTimeout(this.#progressTimer);
    this.#stream?.settle();
    this.#progress.settle();
    if (this.#parts.settings.cleanUp) for (const message of this.#shownProgress.splice(0)) message.remove();
  }
}
