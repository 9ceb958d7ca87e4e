// Converts Discord messages to inbound events, and decides which messages are for the bot.
import type { APIAttachment, APIInteraction, APIMessage, GatewayMessageCreateDispatchData } from "discord.js";
import type { Attachment, InboundEvent, MediaKind, Source } from "../../core/chat/platform.ts";
import type { ChannelInfo } from "./channel-directory.ts";
import type { DiscordSettings } from "./settings.ts";

/** Plain messages and replies; everything else is a system notice. */
const MESSAGE_TYPES = [0, 19];

export interface Bot {
  readonly id: string;
  readonly name: string;
}

export type Incoming = GatewayMessageCreateDispatchData;

function includes(list: readonly string[], place: ChannelInfo): boolean {
  return (
    list.includes("*") || list.includes(place.id) || (place.parentId !== undefined && list.includes(place.parentId))
  );
}

function mentionsBot(message: Incoming, bot: Bot): boolean {
  return message.mentions.some((user) => user.id === bot.id) || message.content.includes(`<@${bot.id}>`);
}

/** True for a reply to the bot, which counts as a mention. */
function repliesToBot(message: Incoming, bot: Bot): boolean {
  return message.referenced_message?.author.id === bot.id;
}

function fromBotAllowed(message: Incoming, bot: Bot, settings: DiscordSettings): boolean {
  if (!message.author.bot) return true;
  return settings.bots === "all" || (settings.bots === "mentions" && mentionsBot(message, bot));
}

/** Checks in this order: own, system, bots, mentions of others, allowed and ignored channels, mention of the bot. */
export function isForBot(
  message: Incoming,
  bot: Bot,
  settings: DiscordSettings,
  where: { readonly place: ChannelInfo; readonly joined: boolean },
): boolean {
  const { place, joined } = where;
  if (message.author.id === bot.id || message.webhook_id !== undefined || !MESSAGE_TYPES.includes(message.type))
    return false;
  if (!fromBotAllowed(message, bot, settings)) return false;
  if (place.kind === "dm") return true;
  const free = includes(settings.freeChannels, place);
  const named = mentionsBot(message, bot) || repliesToBot(message, bot);
  const others = message.mentions.filter((user) => user.id !== bot.id);
  if (!named && others.some((user) => user.bot)) return false;
  if (!named && others.length > 0 && settings.ignoreNoMention && !free) return false;
  if (settings.allowedChannels.length > 0 && !includes(settings.allowedChannels, place)) return false;
  if (includes(settings.ignoredChannels, place)) return false;
  if (named || free || !settings.requireMention) return true;
  if (place.kind === "thread" && joined && !settings.threadRequireMention) return true;
  return settings.mentionPatterns.some((pattern) => pattern.test(message.content));
}

/** A mention in a channel opens a thread; a reply does not. */
export function wantsThread(message: Incoming, place: ChannelInfo, settings: DiscordSettings): boolean {
  if (place.kind !== "channel" || !settings.autoThread || message.message_reference !== undefined) return false;
  return !includes(settings.noThreadChannels, place) && !includes(settings.freeChannels, place);
}

/** At most 80 characters from the first line. */
export function threadName(text: string): string {
  const line = (text.split("\n").find((part) => part.trim() !== "") ?? "").replaceAll(/<[@#&!:][^>]*>/g, "").trim();
  return [...(line || "Conversation")].slice(0, 80).join("");
}

const KINDS: readonly (readonly [string, MediaKind])[] = [
  ["image/", "image"],
  ["video/", "video"],
  ["audio/", "audio"],
];

/** Discord's flag for voice messages. */
const VOICE_FLAG = 1 << 13;

function attachmentOf(file: APIAttachment, voice: boolean): Attachment {
  const mime = file.content_type?.split(";")[0];
  const kind = KINDS.find(([prefix]) => mime?.startsWith(prefix))?.[1] ?? "document";
  return {
    kind: voice && kind === "audio" ? "voice" : kind,
    name: file.filename,
    mime,
    bytes: file.size,
    ref: file.url,
  };
}

export function plainText(text: string, bot: Bot): string {
  return text
    .replaceAll(new RegExp(`<@!?${bot.id}>`, "g"), "")
    .replace(/[ \t]{2,}/g, " ")
    .trim();
}

function displayName(message: Incoming): string {
  return message.member?.nick ?? message.author.global_name ?? message.author.username;
}

export function readSource(place: ChannelInfo, user: Partial<Source> & { userId: string | null }): Source {
  return {
    platform: "discord",
    chatId: place.id,
    chatKind: place.kind,
    chatName: place.name,
    chatTopic: place.topic,
    threadId: place.kind === "thread" ? place.id : undefined,
    parentChatId: place.parentId,
    ...user,
  };
}

/** The prompt and the skills of a channel; a thread has those of its parent. */
function placeExtras(
  place: ChannelInfo,
  settings: DiscordSettings,
): Pick<InboundEvent, "channelPrompt" | "autoSkills"> {
  const prompt = settings.channelPrompts[place.id] ?? settings.channelPrompts[place.parentId ?? ""];
  const bound = settings.skillBindings.find(({ id }) => id === place.id || id === place.parentId);
  return { channelPrompt: prompt || undefined, autoSkills: bound?.skills };
}

/** Null for an empty message. */
export function messageEvent(
  message: Incoming,
  bot: Bot,
  settings: DiscordSettings,
  place: ChannelInfo,
): InboundEvent | null {
  const text = plainText(message.content, bot);
  const voice = ((message.flags ?? 0) & VOICE_FLAG) !== 0;
  const attachments = message.attachments.map((file) => attachmentOf(file, voice));
  if (text === "" && attachments.length === 0) return null;
  const edited = message.edited_timestamp !== null && message.edited_timestamp !== undefined;
  const reply = message.referenced_message;
  return {
    account: bot.id,
    messageId: edited ? `${message.id}:edit:${Date.parse(message.edited_timestamp ?? "")}` : message.id,
    source: readSource(place, {
      userId: message.author.id,
      userName: displayName(message),
      isBot: message.author.bot || undefined,
      guildId: message.guild_id,
    }),
    text,
    attachments: attachments.length > 0 ? attachments : undefined,
    replyTo: reply
      ? { messageId: reply.id, fromBot: reply.author.id === bot.id, text: reply.content || undefined }
      : undefined,
    edited: edited || undefined,
    edits: edited ? message.id : undefined,
    ...placeExtras(place, settings),
    at: Date.parse(message.timestamp) || Date.now(),
  };
}

/** A pressed button or a slash command; null for interactions of other kinds. */
export function interactionEvent(
  interaction: APIInteraction,
  bot: Bot,
  place: ChannelInfo,
  now: number,
): InboundEvent | null {
  const user = interaction.member?.user ?? interaction.user;
  const source = readSource(place, {
    userId: user?.id ?? null,
    userName: interaction.member?.nick ?? user?.global_name ?? user?.username,
    guildId: interaction.guild_id,
  });
  const base = { account: bot.id, source, at: now };
  if (interaction.type === 3) {
    const press = { data: interaction.data.custom_id, messageId: interaction.message.id, pressId: interaction.token };
    return { ...base, messageId: `press:${interaction.id}`, text: "", press };
  }
  if (interaction.type !== 2) return null;
  const { name } = interaction.data;
  const given = "options" in interaction.data ? (interaction.data.options ?? []) : [];
  const args = given.flatMap((option) => ("value" in option ? [String(option.value)] : []));
  return { ...base, messageId: `command:${interaction.id}`, text: [`/${name}`, ...args].join(" ") };
}

/** The messages since the bot's last one, oldest first. `newestFirst` is the order of the API. */
export function backfillText(newestFirst: readonly APIMessage[], bot: Bot): string {
  const since = newestFirst.findIndex((message) => message.author.id === bot.id);
  const missed = (since < 0 ? newestFirst : newestFirst.slice(0, since)).filter((message) => message.content !== "");
  return [...missed]
    .reverse()
    .map((message) => `${message.author.global_name ?? message.author.username}: ${message.content}`)
    .join("\n");
}
