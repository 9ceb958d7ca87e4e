// Handles Discord's events in order: an event counts as received only when it is stored in the inbox.
import type { APIInteraction, APIMessage, GatewayDispatchPayload, REST } from "discord.js";
import type { InboundEvent, PlatformContext } from "../../core/chat/platform.ts";
import { rememberNewest } from "../../lib/remember-newest.ts";
import { CatchUp } from "./catch-up.ts";
import { type ChannelDirectory, type ChannelInfo, isThread } from "./channel-directory.ts";
import {
  type Bot,
  backfillText,
  type Incoming,
  interactionEvent,
  isForBot,
  messageEvent,
  threadName,
  wantsThread,
} from "./inbound.ts";
import { describeDiscordError } from "./rest-client.ts";
import type { DiscordSettings } from "./settings.ts";

const THREAD_EXISTS = 160_004;
const MEMBER_MS = 300_000;
const MAX_MEMBERS = 1_000;

export interface DispatcherParts {
  readonly rest: REST;
  readonly repository: ChannelDirectory;
  readonly bot: Bot;
  readonly settings: DiscordSettings;
  readonly context: PlatformContext;
}

export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #members = new Map<string, { readonly roles: readonly string[]; readonly at: number }>();
  readonly #catchUp: CatchUp;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#catchUp = new CatchUp(parts.context);
  }

  /** True when something was stored in the inbox. Rejects when that failed. */
  async handle(payload: GatewayDispatchPayload): Promise<boolean> {
    try {
      return await this.#handle(payload);
    } catch (error) {
      // An event that cannot be parsed is skipped: requesting it again would block all later events.
      const unreadable = error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
      if (!unreadable || payload.t === "READY") throw error;
      this.#parts.context.log("error", `an event of Discord (${payload.t}) could not be read: ${error.message}`);
      return false;
    }
  }

  async #handle(payload: GatewayDispatchPayload): Promise<boolean> {
    const { repository } = this.#parts;
    switch (payload.t) {
      case "READY":
        return this.#missed();
      case "GUILD_CREATE":
        for (const channel of [...(payload.d.channels ?? []), ...(payload.d.threads ?? [])]) repository.learn(channel);
        return false;
      case "CHANNEL_CREATE":
      case "CHANNEL_UPDATE":
      case "THREAD_CREATE":
      case "THREAD_UPDATE":
        repository.learn(payload.d);
        return false;
      case "MESSAGE_CREATE":
        return this.#message(payload.d);
      case "MESSAGE_UPDATE":
        // Link previews also cause updates; only edits by the author matter.
        return payload.d.edited_timestamp && payload.d.author ? this.#message(payload.d as Incoming) : false;
      case "INTERACTION_CREATE":
        return this.#interaction(payload.d as APIInteraction);
      default:
        return false;
    }
  }

  /** Fetches missed messages: Discord does not repeat them for a new session. */
  async #missed(): Promise<boolean> {
    const messages = await this.#catchUp.missed(this.#parts.rest, this.#parts.repository);
    let stored = false;
    for (const message of messages) stored = (await this.#message(message)) || stored;
    return stored;
  }

  async #message(message: Incoming): Promise<boolean> {
    const { repository, bot, settings, context } = this.#parts;
    const place = await repository.place(message.channel_id, message.guild_id);
    const joined = isThread(place) && (await repository.hasJoined(place.id));
    if (!isForBot(message, bot, settings, { place, joined })) return false;
    if (!message.author.bot && !(await this.#rolesAllow(message.author.id, message))) return false;
    const backfill = place.kind === "dm" || joined ? "" : await this.#backfill(message);
    const where = wantsThread(message, place, settings) ? await this.#startThread(message, place) : place;
    if (isThread(where)) await repository.join(where.id);
    const event = messageEvent(message, bot, settings, where);
    if (!event) return false;
    await context.receive(backfill === "" ? event : { ...event, backfill });
    await this.#catchUp.seen(message.channel_id, message.id);
    return true;
  }

  /** Compares the configured roles here, because only the platform knows them. Listed users need no role. */
  async #rolesAllow(
    userId: string,
    where: {
      readonly member?: { readonly roles?: readonly string[] | undefined };
      readonly guild_id?: string | undefined;
    },
  ): Promise<boolean> {
    const { settings } = this.#parts;
    if (settings.roles.length === 0) return true;
    if (settings.users.includes(userId) || settings.users.includes("*")) return true;
    const roles = where.member?.roles ?? (await this.#memberRoles(userId, where.guild_id ?? settings.dmRoleGuild));
    return roles.some((role) => settings.roles.includes(role));
  }

  async #memberRoles(userId: string, guildId: string): Promise<readonly string[]> {
    const { rest, context } = this.#parts;
    if (guildId === "") return [];
    const key = `${guildId}:${userId}`;
    const known = this.#members.get(key);
    if (known && context.now() - known.at < MEMBER_MS) return known.roles;
    try {
      const member = (await rest.get(`/guilds/${guildId}/members/${userId}`)) as { roles: string[] };
      rememberNewest(this.#members, key, { roles: member.roles, at: context.now() }, MAX_MEMBERS);
      return member.roles;
    } catch {
      // A user who is not on that server has no role there.
      return [];
    }
  }

  async #backfill(message: Incoming): Promise<string> {
    const { rest, settings, bot } = this.#parts;
    if (settings.backfill === 0) return "";
    const query = new URLSearchParams({ before: message.id, limit: String(settings.backfill) });
    try {
      const found = (await rest.get(`/channels/${message.channel_id}/messages`, { query })) as APIMessage[];
      return backfillText(found, bot);
    } catch {
      // An answer without the history is better than none.
      return "";
    }
  }

  /** A thread has the id of its first message, also when it was created before a crash. */
  async #startThread(message: Incoming, place: ChannelInfo): Promise<ChannelInfo> {
    const { rest, context } = this.#parts;
    const name = threadName(message.content);
    const thread: ChannelInfo = { id: message.id, kind: "thread", name, parentId: place.id };
    try {
      const body = { name, auto_archive_duration: 1440 };
      await rest.post(`/channels/${place.id}/messages/${message.id}/threads`, { body });
      return thread;
    } catch (error) {
      if (Number(describeDiscordError(error).code) === THREAD_EXISTS) return thread;
      context.log("warning", `no thread in ${place.name ?? place.id}: ${describeDiscordError(error).text}`);
      return place;
    }
  }

  async #interaction(interaction: APIInteraction): Promise<boolean> {
    const { repository, bot, context, rest } = this.#parts;
    const channelId = interaction.channel?.id ?? "";
    repository.learn(interaction.channel);
    const place = await repository.place(channelId, interaction.guild_id);
    const event: InboundEvent | null = interactionEvent(interaction, bot, place, context.now());
    if (!event?.source.userId) return false;
    if (!(await this.#rolesAllow(event.source.userId, interaction))) return false;
    await context.receive(event);
    const command = { type: 4, data: { content: event.text, flags: 64 } };
    const body = event.press ? { type: 6 } : command;
    // Discord waits three seconds for this; the message is handled even when it is late.
    await rest
      .post(`/interactions/${interaction.id}/${interaction.token}/callback`, { body, auth: false })
      .catch(() => undefined);
    return true;
  }
}
