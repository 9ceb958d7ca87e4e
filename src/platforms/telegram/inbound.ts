// Converts Telegram updates to inbound events, and decides which group messages are for the bot.
import type { CallbackQuery, Message, MessageEntity, Update, User } from "grammy/types";
import type { Attachment, ChatKind, InboundEvent, MediaKind, Source } from "../../core/chat/platform.ts";
import type { TelegramSettings } from "./settings.ts";

export interface Bot {
  readonly id: number;
  readonly username: string;
}

function displayName(user: User): string {
  return [user.first_name, user.last_name].filter(Boolean).join(" ") || user.username || String(user.id);
}

function findKind(message: Message): ChatKind {
  if (message.chat.type === "private") return "dm";
  if (message.chat.type === "channel") return "channel";
  return message.chat.type === "supergroup" && message.chat.is_forum === true ? "forum" : "group";
}

/** A topic in a forum or in a private chat; a chain of replies in a group is not a thread. */
function readThread(message: Message): string | undefined {
  if (message.message_thread_id === undefined || message.is_topic_message !== true) return undefined;
  return String(message.message_thread_id);
}

function readSource(message: Message, from: User | undefined): Source {
  const threadId = readThread(message);
  const title = "title" in message.chat ? message.chat.title : undefined;
  return {
    platform: "telegram",
    chatId: String(message.chat.id),
    chatKind: findKind(message),
    chatName: title || undefined,
    threadId,
    userId: from ? String(from.id) : null,
    userName: from && displayName(from),
    isBot: from?.is_bot,
  };
}

interface FileLike {
  readonly file_id: string;
  readonly file_size?: number;
  readonly mime_type?: string;
  readonly file_name?: string;
}

function attachment(kind: MediaKind, file: FileLike): Attachment {
  return {
    kind,
    ref: file.file_id,
    name: file.file_name || undefined,
    mime: file.mime_type || undefined,
    bytes: file.file_size || undefined,
  };
}

function readAttachments(message: Message): Attachment[] {
  const found: Attachment[] = [];
  const photo = message.photo?.at(-1);
  if (photo) found.push(attachment("image", { ...photo, mime_type: "image/jpeg" }));
  if (message.voice) found.push(attachment("voice", { mime_type: "audio/ogg", ...message.voice }));
  if (message.audio) found.push(attachment("audio", message.audio));
  if (message.video) found.push(attachment("video", message.video));
  if (message.video_note) found.push(attachment("video", { ...message.video_note, mime_type: "video/mp4" }));
  if (message.sticker) found.push(attachment("sticker", { ...message.sticker, mime_type: "image/webp" }));
  // An animation is delivered as a document too.
  if (message.document) found.push(attachment("document", message.document));
  return found;
}

function contentText(message: Message): string {
  const text = message.text ?? message.caption ?? "";
  if (message.location) {
    const { latitude, longitude } = message.location;
    const place = message.venue ? `${message.venue.title}, ${message.venue.address}: ` : "";
    return `${text}[location: ${place}${latitude}, ${longitude}]`;
  }
  if (message.sticker?.emoji && text === "") return `[sticker ${message.sticker.emoji}]`;
  return text;
}

function mentioned(message: Message, bot: Bot): boolean {
  const text = message.text ?? message.caption ?? "";
  const entities: readonly MessageEntity[] = message.entities ?? message.caption_entities ?? [];
  return entities.some((entity) => {
    const part = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
    if (entity.type === "mention") return part === `@${bot.username.toLowerCase()}`;
    if (entity.type === "text_mention") return entity.user.id === bot.id;
    return entity.type === "bot_command" && part.endsWith(`@${bot.username.toLowerCase()}`);
  });
}

/** Checks in this order: ignored topic, allowed chats, free chats, mention required, reply, mention, pattern. */
export function isForBot(message: Message, bot: Bot, settings: TelegramSettings): boolean {
  if (message.chat.type === "private") return true;
  const thread = message.message_thread_id;
  if (thread !== undefined && settings.ignoredThreads.includes(String(thread))) return false;
  const chatId = String(message.chat.id);
  const named = mentioned(message, bot);
  if (settings.allowedChats.length > 0 && !settings.allowedChats.includes(chatId)) return settings.guestMode && named;
  if (settings.freeChats.includes(chatId) || settings.freeChats.includes("*")) return true;
  if (!settings.requireMention) return true;
  if (message.reply_to_message?.from?.id === bot.id && !message.reply_to_message.forum_topic_created) return true;
  const text = message.text ?? message.caption ?? "";
  return named || settings.mentionPatterns.some((pattern) => pattern.test(text));
}

/** Removes the mention of the bot. */
function withoutName(text: string, bot: Bot): string {
  const name = new RegExp(`@${bot.username}\\b`, "gi");
  return text
    .replace(name, "")
    .replace(/[ \t]{2,}/g, " ")
    .trim();
}

function messageEvent(message: Message, bot: Bot, edited: boolean): InboundEvent | null {
  const from = message.from;
  if (from?.id === bot.id) return null;
  const attachments = readAttachments(message);
  const text = withoutName(contentText(message), bot);
  if (text === "" && attachments.length === 0) return null;
  const reply = message.reply_to_message;
  const quoted = message.quote?.text ?? reply?.text ?? reply?.caption;
  return {
    account: String(bot.id),
    messageId: edited ? `${message.message_id}:edit:${message.edit_date ?? 0}` : String(message.message_id),
    source: readSource(message, from),
    text,
    attachments: attachments.length > 0 ? attachments : undefined,
    group: message.media_group_id,
    replyTo:
      reply && !reply.forum_topic_created
        ? { messageId: String(reply.message_id), fromBot: reply.from?.id === bot.id, text: quoted || undefined }
        : undefined,
    forwarded: message.forward_origin !== undefined || undefined,
    edited: edited || undefined,
    edits: edited ? String(message.message_id) : undefined,
    at: message.date * 1000,
  };
}

function pressEvent(query: CallbackQuery, bot: Bot, now: number): InboundEvent | null {
  const { message, data } = query;
  if (!message || !data) return null;
  const source = readSource(message as Message, query.from);
  return {
    account: String(bot.id),
    messageId: `press:${query.id}`,
    source,
    text: "",
    press: { data, messageId: String(message.message_id), pressId: query.id },
    at: now,
  };
}

/** Some Bot API servers send null for absent fields. */
export function withoutNulls<T>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNulls) as T;
  if (typeof value !== "object" || value === null) return value;
  const given = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(given.map(([name, each]) => [name, withoutNulls(each)])) as T;
}

/** Null for updates that are not for the bot. */
export function toInboundEvent(update: Update, bot: Bot, settings: TelegramSettings, now: number): InboundEvent | null {
  if (update.callback_query) return pressEvent(update.callback_query, bot, now);
  const edited = update.edited_message !== undefined;
  const message = update.message ?? update.edited_message;
  if (!message || !isForBot(message, bot, settings)) return null;
  return messageEvent(message, bot, edited);
}

/** True for a message of an album that is for the bot: in a group only the message with the caption mentions it. */
export function albumPart(update: Update, bot: Bot, albums: ReadonlySet<string>): InboundEvent | null {
  const { message } = update;
  return message?.media_group_id && albums.has(message.media_group_id) ? messageEvent(message, bot, false) : null;
}
