// Sends to Discord: messages with a nonce against duplicates, buttons, edits, files, reactions.
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { APIMessage, REST } from "discord.js";
import {
  type Attachment,
  type Destination,
  isFile,
  type OutboundFile,
  type OutboundMessage,
  type SendProof,
  type SendResult,
  type UnknownSend,
} from "../../core/chat/platform.ts";
import type { ChannelDirectory } from "./channel-directory.ts";
import { readAfter } from "./history.ts";
import { type Bot, threadName } from "./inbound.ts";
import { describeDiscordError, sendFailure } from "./rest-client.ts";
import type { DiscordSettings } from "./settings.ts";

const EPOCH = 1_420_070_400_000n;
const MAX_DOWNLOAD = 32 * 1024 * 1024;
/** Maximum number of pages to search for a lost message. */
const MAX_PAGES = 20;
/** Tolerated lead of this machine's clock over Discord's. */
const SKEW_MS = 120_000;
const REACTION_EMOJI = { seen: "👀", done: "✅", failed: "❌" } as const;
/** Errors for a message or emoji that no longer exists: a removal has then succeeded. */
const GONE = [10_008, 10_014];

type Text = Omit<OutboundMessage, "idempotencyKey">;

function channelId(to: Destination): string {
  return to.threadId ?? to.chatId;
}

function buildNonce(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 24);
}

/** The id that a message sent at this moment would have. */
export function snowflakeAt(ms: number): string {
  return String((BigInt(Math.max(0, Math.floor(ms))) - EPOCH) << 22n);
}

/** A message id lower than that of any message sent from now on. */
export function markAt(now: number): string {
  return snowflakeAt(now - SKEW_MS);
}

/** Discord allows five rows of five buttons: a long list fills the rows. */
function toRows(buttons: NonNullable<Text["buttons"]>): NonNullable<Text["buttons"]> {
  if (buttons.length <= 5) return buttons;
  const all = buttons.flat();
  return Array.from({ length: Math.min(5, Math.ceil(all.length / 5)) }, (_, at) => all.slice(5 * at, 5 * at + 5));
}

function components(message: Text): unknown[] {
  return toRows(message.buttons ?? []).map((row) => ({
    type: 1,
    components: row.slice(0, 5).map(({ label, data }, index) => ({
      type: 2,
      style: index === 0 ? 1 : 2,
      label: label.slice(0, 80),
      custom_id: data.slice(0, 100),
    })),
  }));
}

/** Edits and removals are idempotent, so they may be retried. */
function repeatable(failure: Extract<SendResult, { ok: false }>): SendResult {
  return failure.kind === "unknown" ? { ...failure, kind: "retry" } : failure;
}

export class Outbound {
  readonly #rest: REST;
  readonly #repository: ChannelDirectory;
  readonly #settings: DiscordSettings;
  readonly #bot: Bot;

  constructor(parts: { rest: REST; repository: ChannelDirectory; settings: DiscordSettings; bot: Bot }) {
    this.#rest = parts.rest;
    this.#repository = parts.repository;
    this.#settings = parts.settings;
    this.#bot = parts.bot;
  }

  #pings(): object {
    return { parse: this.#settings.pings, replied_user: true };
  }

  #reply(id: string | undefined): object {
    const plain = id?.split(":")[0];
    return plain && /^\d+$/.test(plain) ? { message_reference: { message_id: plain, fail_if_not_exists: false } } : {};
  }

  async send(to: Destination, message: OutboundMessage, signal: AbortSignal): Promise<SendResult> {
    const body = {
      content: message.text,
      components: components(message),
      allowed_mentions: this.#pings(),
      nonce: buildNonce(message.idempotencyKey),
      enforce_nonce: true,
      flags: message.silent ? 1 << 12 : undefined,
      ...this.#reply(message.replyTo),
    };
    return this.#post(to, { body, signal }, message.text);
  }

  async sendFile(to: Destination, file: OutboundFile, signal: AbortSignal): Promise<SendResult> {
    let data: Buffer;
    try {
      data = await readFile(file.path);
    } catch (error) {
      return { ok: false, kind: "refused", reason: `${file.path} cannot be read: ${(error as Error).message}` };
    }
    const body = {
      content: file.caption ?? "",
      allowed_mentions: this.#pings(),
      nonce: buildNonce(file.idempotencyKey),
      enforce_nonce: true,
      ...this.#reply(file.replyTo),
    };
    return this.#post(to, { body, signal, files: [{ name: file.name, data }] }, file.caption || file.name);
  }

  /** A forum needs posts with a title: the first line of the text. */
  async #post(
    to: Destination,
    request: { body: object; signal: AbortSignal; files?: { name: string; data: Buffer }[] },
    title: string,
  ): Promise<SendResult> {
    const channel = channelId(to);
    try {
      const place = await this.#repository.place(channel, to.threadId ? undefined : "unknown");
      if (place.kind === "forum") {
        const name = [...threadName(title)].slice(0, 100).join("");
        const body = { name, auto_archive_duration: 1440, message: request.body };
        const post = (await this.#rest.post(`/channels/${channel}/threads`, { ...request, body })) as { id: string };
        return { ok: true, messageId: post.id };
      }
      const sent = (await this.#rest.post(`/channels/${channel}/messages`, request)) as { id: string };
      return { ok: true, messageId: sent.id };
    } catch (error) {
      return sendFailure(error);
    }
  }

  async edit(to: Destination, id: string, message: Text, signal: AbortSignal): Promise<SendResult> {
    const body = { content: message.text, components: components(message), allowed_mentions: this.#pings() };
    try {
      await this.#rest.patch(`/channels/${channelId(to)}/messages/${id}`, { body, signal });
      return { ok: true, messageId: id };
    } catch (error) {
      return repeatable(sendFailure(error));
    }
  }

  async delete(to: Destination, id: string, signal: AbortSignal): Promise<SendResult> {
    try {
      await this.#rest.delete(`/channels/${channelId(to)}/messages/${id}`, { signal });
    } catch (error) {
      if (!GONE.includes(Number(describeDiscordError(error).code))) return repeatable(sendFailure(error));
    }
    return { ok: true, messageId: id };
  }

  async typing(to: Destination): Promise<void> {
    await this.#rest.post(`/channels/${channelId(to)}/typing`).catch(() => undefined);
  }

  async react(to: Destination, messageId: string, state: "seen" | "done" | "failed" | "clear"): Promise<void> {
    const id = messageId.split(":")[0] ?? "";
    if (!this.#settings.reactions || !/^\d+$/.test(id)) return;
    const route = (emoji: string) =>
      `/channels/${channelId(to)}/messages/${id}/reactions/${encodeURIComponent(emoji)}/@me` as const;
    if (state !== "seen") await this.#rest.delete(route(REACTION_EMOJI.seen)).catch(() => undefined);
    if (state !== "clear") await this.#rest.put(route(REACTION_EMOJI[state])).catch(() => undefined);
  }

  /** Only from Discord's file servers, because the address came in a message. */
  async download(attachment: Attachment, signal: AbortSignal): Promise<Uint8Array> {
    const url = new URL(attachment.ref);
    const known = ["cdn.discordapp.com", "media.discordapp.net", new URL(this.#settings.apiRoot).hostname];
    if (!known.includes(url.hostname)) throw new Error(`${url.hostname} is not a file server of Discord`);
    const answer = await fetch(url, { signal, redirect: "error" });
    if (!answer.ok) throw new Error(`Discord answered ${answer.status} for ${attachment.name ?? "the file"}`);
    if (Number(answer.headers.get("content-length") ?? 0) > MAX_DOWNLOAD) throw new Error("the file is too large");
    const bytes = new Uint8Array(await answer.arrayBuffer());
    if (bytes.byteLength > MAX_DOWNLOAD) throw new Error("the file is too large");
    return bytes;
  }

  /** Searches the bot's messages in the channel since the mark. Rejects when Discord cannot be reached. */
  async findSent(unknown: UnknownSend, signal: AbortSignal): Promise<SendProof> {
    const { message, mark, known } = unknown;
    if (mark === null) return { sent: "unknown" };
    try {
      const options = { after: mark, pages: MAX_PAGES, signal };
      const { messages, complete } = await readAfter(this.#rest, channelId(unknown.to), options);
      const match = messages.find(
        (sent) => sent.author.id === this.#bot.id && !known.has(sent.id) && isSame(sent, message),
      );
      return match ? { sent: true, messageId: match.id } : { sent: complete ? false : "unknown" };
    } catch (error) {
      const failure = sendFailure(error);
      if (failure.kind !== "refused") throw new Error(failure.reason);
      return { sent: "unknown" };
    }
  }
}

function isSame(sent: APIMessage, message: OutboundMessage | OutboundFile): boolean {
  if (!isFile(message)) return sent.content.trim() === message.text.trim();
  const names = [message.name, message.name.replaceAll(" ", "_")];
  return sent.attachments.some((file) => names.includes(file.filename));
}
