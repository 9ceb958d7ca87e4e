// One connected Telegram bot: receives by poll or webhook, sends, edits, transfers files, and finds lost messages.
import { access } from "node:fs/promises";
import type { Api } from "grammy";
import type { InlineKeyboardMarkup, Update } from "grammy/types";
import {
  type Attachment,
  type ButtonPress,
  type Destination,
  type InboundEvent,
  isFile,
  type OutboundFile,
  type OutboundMessage,
  type PlatformConnection,
  type PlatformContext,
  type PlatformHealth,
  type SendProof,
  type SendResult,
  type UnknownSend,
} from "../../core/chat/platform.ts";
import { underSignals } from "../../lib/async/joined-signal.ts";
import { describeApiError, type Failure, loadGrammy, sendFailure, type TelegramClient } from "./client.ts";
import { findSentMessage, placeholderFor } from "./find-sent.ts";
import { toTelegramHtml } from "./format.ts";
import type { HealthMonitor } from "./health-monitor.ts";
import { albumPart, type Bot, toInboundEvent, withoutNulls } from "./inbound.ts";
import type { TelegramSettings } from "./settings.ts";

const SEND_MS = 30_000;
const FILE_MS = 180_000;
const SEEN = 5_000;
/** After updates or the start, more updates may arrive from Telegram for this long. */
const ARRIVING_MS = 5_000;
/** Delay before the highest ids are stored; much shorter than the lifetime of an outbox row. */
const SAVE_DELAY_MS = 3_600_000;
const MAX_SCOPES = 200;
const MAX_ALBUMS = 100;
const HIGHEST = "highest_ids";
const MAX_DOWNLOAD = 20_000_000;
const REACTION_EMOJI = { seen: "👀", done: "👍", failed: "👎" } as const;

type Text = Omit<OutboundMessage, "idempotencyKey">;

function keyboard(message: Text): { reply_markup?: InlineKeyboardMarkup } {
  if (!message.buttons) return {};
  const rows = message.buttons.map((row) => row.map(({ label, data }) => ({ text: label, callback_data: data })));
  return { reply_markup: { inline_keyboard: rows } };
}

export interface ConnectionParts {
  readonly client: TelegramClient;
  readonly bot: Bot;
  readonly settings: TelegramSettings;
  readonly context: PlatformContext;
  readonly monitor: HealthMonitor;
  stop(): Promise<void>;
}

export class TelegramConnection implements PlatformConnection {
  readonly account: string;
  readonly accountName: string;
  readonly #parts: ConnectionParts;
  /** The highest message id seen: one counter for private chats and small groups, one for each large group. */
  readonly #highest = new Map<string, number>();
  /** Ids that this process has seen recently, by the same counters. */
  readonly #seen = new Set<string>();
  /** Albums with a message for the bot. */
  readonly #albums = new Set<string>();
  #lastUpdateAt: number;
  #saveTimer: NodeJS.Timeout | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#lastUpdateAt = parts.context.now();
    this.account = String(parts.bot.id);
    this.accountName = parts.bot.username;
  }

  /** Loads the highest ids that were stored before the restart. */
  async remember(): Promise<void> {
    const stored = await this.#parts.context.memory.get(HIGHEST);
    const pairs = stored ? (JSON.parse(stored) as [string, number][]) : [];
    for (const [scope, id] of pairs) this.#recordSeen(scope, id);
  }

  /** Records messages that the mailbox knows. */
  learn(messages: readonly { readonly chatId: string; readonly messageId: string }[]): void {
    for (const { chatId, messageId } of messages)
      if (/^\d+$/.test(messageId)) this.#recordSeen(counterScope(chatId), Number(messageId));
  }

  /** Resolves when the updates are on disk. */
  async take(given: readonly Update[]): Promise<void> {
    const { context } = this.#parts;
    const updates = given.map(withoutNulls);
    this.#lastUpdateAt = context.now();
    for (const update of updates) {
      const message = update.message ?? update.edited_message;
      if (message) this.#recordSeen(counterScope(String(message.chat.id)), message.message_id);
    }
    const events = updates.flatMap((update) => {
      try {
        return this.#event(update) ?? [];
      } catch (error) {
        // An update that cannot be parsed is skipped: requesting it again would block all later ones.
        context.log("error", `an update of Telegram could not be read: ${String(error)}`);
        return [];
      }
    });
    if (events.length === 0) return;
    // Stored no later than the events: a mark is needed to answer them.
    await Promise.all([this.saveHighest(), context.receiveAll(events)]);
  }

  #event(update: Update): InboundEvent | null {
    const { context, bot, settings } = this.#parts;
    const event = toInboundEvent(update, bot, settings, context.now()) ?? albumPart(update, bot, this.#albums);
    if (event?.group) this.#albums.add(event.group);
    const oldest = this.#albums.size > MAX_ALBUMS ? this.#albums.values().next().value : undefined;
    if (oldest !== undefined) this.#albums.delete(oldest);
    return event;
  }

  /** Stores the highest ids. */
  async saveHighest(): Promise<void> {
    clearTimeout(this.#saveTimer);
    this.#saveTimer = undefined;
    await this.#parts.context.memory.set(HIGHEST, JSON.stringify([...this.#highest].slice(-MAX_SCOPES)));
  }

  async #saveIfPending(): Promise<void> {
    if (!this.#saveTimer) return;
    const { context } = this.#parts;
    await this.saveHighest().catch((error: unknown) =>
      context.log("warning", `Telegram: ids were not stored: ${error}`),
    );
  }

  /** Raises the mark to a message that the bot sent: with a lower mark a later search would find it as the lost one. */
  #recordSent(to: Destination, id: number): void {
    this.#recordSeen(counterScope(to.chatId), id);
    this.#saveTimer ??= setTimeout(() => void this.#saveIfPending(), SAVE_DELAY_MS).unref();
  }

  #recordSeen(scope: string, id: number): void {
    const highest = Math.max(id, this.#highest.get(scope) ?? 0);
    // The most recently used one is last.
    this.#highest.delete(scope);
    this.#highest.set(scope, highest);
    this.#seen.add(`${scope}/${id}`);
    const oldest = this.#seen.size > SEEN ? this.#seen.values().next().value : undefined;
    if (oldest !== undefined) this.#seen.delete(oldest);
  }

  async #call<T>(work: (api: Api) => Promise<T>): Promise<{ ok: true; value: T } | Failure> {
    try {
      return { ok: true, value: await work(await this.#parts.client.api()) };
    } catch (error) {
      return sendFailure(error);
    }
  }

  /** Sends with formatting, and as plain text when Telegram refuses the formatting or its length. */
  async #formatted(
    message: Text,
    call: (text: string, mode: { parse_mode?: "HTML" }) => Promise<SendResult>,
  ): Promise<SendResult> {
    const html = await toTelegramHtml(message.text);
    if (html === message.text) return call(message.text, {});
    const result = await call(html, { parse_mode: "HTML" });
    const unreadable = !result.ok && result.kind === "refused" && /can't parse|entit|too long/i.test(result.reason);
    return unreadable ? call(message.text, {}) : result;
  }

  async send(to: Destination, message: OutboundMessage, signal: AbortSignal): Promise<SendResult> {
    return underSignals([signal], SEND_MS, (limit) =>
      this.#formatted(message, (text, mode) => this.#post(to, { ...message, text }, mode, limit)),
    );
  }

  async #post(to: Destination, message: Text, mode: { parse_mode?: "HTML" }, signal: AbortSignal): Promise<SendResult> {
    const { settings } = this.#parts;
    const result = await this.#call((api) =>
      api.sendMessage(
        to.chatId,
        message.text,
        {
          ...mode,
          ...keyboard(message),
          ...readThread(to),
          ...findReply(message.replyTo),
          ...(message.silent ? { disable_notification: true } : {}),
          ...(settings.linkPreviews ? {} : { link_preview_options: { is_disabled: true } }),
        },
        signal as Parameters<Api["sendMessage"]>[3],
      ),
    );
    if (!result.ok) {
      const redirected = findNewDestination(result, to);
      return redirected ? this.#post(redirected, message, mode, signal) : result;
    }
    this.#recordSent(to, result.value.message_id);
    return { ok: true, messageId: String(result.value.message_id) };
  }

  async edit(to: Destination, messageId: string, message: Text, signal: AbortSignal): Promise<SendResult> {
    const result = await underSignals([signal], SEND_MS, (limit) =>
      this.#formatted(message, async (text, mode) => {
        const edited = await this.#call((api) =>
          api.editMessageText(
            to.chatId,
            Number(messageId),
            text,
            { ...mode, ...keyboard(message) },
            limit as Parameters<Api["editMessageText"]>[4],
          ),
        );
        return edited.ok ? { ok: true, messageId } : edited;
      }),
    );
    return !result.ok && /message is not modified/i.test(result.reason) ? { ok: true, messageId } : result;
  }

  async delete(to: Destination, messageId: string): Promise<SendResult> {
    const result = await this.#call((api) => api.deleteMessage(to.chatId, Number(messageId)));
    return result.ok ? { ok: true, messageId } : result;
  }

  async sendFile(to: Destination, file: OutboundFile, signal: AbortSignal): Promise<SendResult> {
    const gone = await access(file.path).then(
      () => null,
      (error: Error) => error.message,
    );
    if (gone !== null) return { ok: false, kind: "refused", reason: `the file cannot be read: ${gone}` };
    const { InputFile } = await loadGrammy();
    const other = {
      ...readThread(to),
      ...findReply(file.replyTo),
      ...buildCaption(file),
    };
    const input = new InputFile(file.path, file.name);
    const result = await underSignals([signal], FILE_MS, (joined) =>
      this.#call((api): Promise<{ message_id: number }> => {
        const limit = joined as Parameters<Api["sendDocument"]>[3];
        if (file.kind === "image") return api.sendPhoto(to.chatId, input, other, limit);
        if (file.kind === "voice") return api.sendVoice(to.chatId, input, other, limit);
        if (file.kind === "audio") return api.sendAudio(to.chatId, input, other, limit);
        if (file.kind === "video") return api.sendVideo(to.chatId, input, other, limit);
        return api.sendDocument(to.chatId, input, other, limit);
      }),
    );
    if (!result.ok) {
      const redirected = findNewDestination(result, to);
      return redirected ? this.sendFile(redirected, file, signal) : result;
    }
    this.#recordSent(to, result.value.message_id);
    return { ok: true, messageId: String(result.value.message_id) };
  }

  async typing(to: Destination): Promise<void> {
    await this.#call((api) => api.sendChatAction(to.chatId, "typing", readThread(to)));
  }

  async react(to: Destination, messageId: string, state: "seen" | "done" | "failed" | "clear"): Promise<void> {
    if (!this.#parts.settings.reactions || !/^\d+$/.test(messageId)) return;
    const reaction = state === "clear" ? [] : [{ type: "emoji" as const, emoji: REACTION_EMOJI[state] }];
    await this.#call((api) => api.setMessageReaction(to.chatId, Number(messageId), reaction));
  }

  async answerPress(press: ButtonPress, text?: string): Promise<void> {
    const { pressId } = press;
    if (pressId) await this.#call((api) => api.answerCallbackQuery(pressId, text ? { text: text.slice(0, 200) } : {}));
  }

  async download(attachment: Attachment, signal: AbortSignal): Promise<Uint8Array> {
    const api = await this.#parts.client.api();
    if ((attachment.bytes ?? 0) > MAX_DOWNLOAD) throw new Error("Telegram lets bots fetch files up to 20 MB only");
    try {
      const file = await api.getFile(attachment.ref, signal as Parameters<Api["getFile"]>[1]);
      const response = await fetch(this.#parts.client.fileUrl(file.file_path ?? ""), { signal });
      if (!response.ok) throw new Error(`the file server answered ${response.status}`);
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      throw new Error(`the file could not be fetched: ${describeApiError(error).text}`);
    }
  }

  mark(to: Destination): string | null {
    const highest = this.#highest.get(counterScope(to.chatId));
    return highest === undefined ? null : String(highest);
  }

  /** Sends and deletes a placeholder: Telegram tells message ids only to the sender of a message. */
  async learnMark(to: Destination, key: string, signal: AbortSignal): Promise<SendResult> {
    const placed = await this.send(to, placeholderFor(key), signal);
    if (placed.ok) await this.delete(to, placed.messageId);
    return placed;
  }

  async findSent(unknown: UnknownSend, signal: AbortSignal): Promise<SendProof> {
    const prober = {
      isChannel: (to: Destination) => this.#isChannel(to),
      send: (to: Destination, text: OutboundMessage) => this.send(to, text, signal),
      write: (to: Destination, id: string, message: OutboundMessage | OutboundFile) =>
        isFile(message) ? this.#setCaption(to, id, message) : this.edit(to, id, message, signal),
      delete: (to: Destination, id: string) => this.delete(to, id),
      isKnown: (to: Destination, id: number) => this.#seen.has(`${counterScope(to.chatId)}/${id}`),
      updatesArriving: () => this.#parts.context.now() - this.#lastUpdateAt < ARRIVING_MS,
      probe: (to: Destination, id: string, message: OutboundMessage | OutboundFile) => this.#probe(to, id, message),
    };
    return findSentMessage(prober, unknown, signal);
  }

  /** Rejects when Telegram cannot be reached. */
  async #isChannel(to: Destination): Promise<boolean> {
    if (counterScope(to.chatId) === "account") return false;
    const result = await this.#call((api) => api.getChat(to.chatId));
    if (!result.ok && result.kind !== "refused") throw new Error(result.reason);
    return !result.ok || result.value.type === "channel";
  }

  async #setCaption(to: Destination, messageId: string, file: OutboundFile): Promise<SendResult> {
    const result = await this.#call((api) => api.editMessageCaption(to.chatId, Number(messageId), buildCaption(file)));
    const succeeded = result.ok || /message is not modified/i.test(result.reason);
    return succeeded ? { ok: true, messageId } : result;
  }

  async #probe(
    to: Destination,
    messageId: string,
    message: OutboundMessage | OutboundFile,
  ): Promise<SendResult & { readonly same?: boolean }> {
    const buttons = isFile(message) ? {} : keyboard(message);
    const result = await this.#call((api) => api.editMessageReplyMarkup(to.chatId, Number(messageId), buttons));
    if (result.ok) return { ok: true, messageId, same: false };
    return /message is not modified/i.test(result.reason) ? { ok: true, messageId, same: true } : result;
  }

  health(): PlatformHealth {
    return this.#parts.monitor.health();
  }

  async close(): Promise<void> {
    await this.#parts.stop();
    this.#parts.client.rebuild();
    await this.#saveIfPending();
  }
}

/** Large groups have their own message counter; all other chats share the bot's. */
function counterScope(chatId: string): string {
  return chatId.startsWith("-100") ? chatId : "account";
}

function readThread(to: Destination): { message_thread_id?: number } {
  // Topic 1 is the general one; Telegram refuses its id.
  return to.threadId && to.threadId !== "1" ? { message_thread_id: Number(to.threadId) } : {};
}

function findReply(messageId: string | undefined): {
  reply_parameters?: { message_id: number; allow_sending_without_reply: true };
} {
  if (!messageId || !/^\d+$/.test(messageId)) return {};
  return { reply_parameters: { message_id: Number(messageId), allow_sending_without_reply: true } };
}

function buildCaption({ caption }: OutboundFile): { caption?: string } {
  return caption ? { caption: caption.slice(0, 1024) } : {};
}

/** The new destination when the group has moved or the topic was deleted. */
function findNewDestination(failure: Failure, to: Destination): Destination | null {
  if (failure.movedTo !== undefined && failure.movedTo !== to.chatId) return { ...to, chatId: failure.movedTo };
  const noTopic = to.threadId !== undefined && failure.kind === "refused" && /thread not found/i.test(failure.reason);
  return noTopic ? { chatId: to.chatId } : null;
}
