// The types of channels, cached and updated by events, and the threads that the bot takes part in.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { APIChannel, REST } from "discord.js";
import type { ChatKind } from "../../core/chat/platform.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";

const MAX_CHANNELS = 2000;
const MAX_THREADS = 500;

/** Numbers of Discord's channel types. */
const DM = 1;
const GROUP_DM = 3;
const THREADS = [10, 11, 12];
const FORUMS = [15, 16];
const TEXT = [0, 5];

export interface ChannelInfo {
  readonly id: string;
  readonly kind: ChatKind;
  readonly name?: string | undefined;
  readonly topic?: string | undefined;
  readonly parentId?: string | undefined;
  readonly guildId?: string | undefined;
}

export function isThread(place: ChannelInfo): boolean {
  return place.kind === "thread";
}

function toChannelInfo(channel: Partial<APIChannel> & { id: string; type: number }): ChannelInfo {
  const {
    name,
    topic,
    parent_id: parent,
    guild_id: guild,
  } = channel as {
    name?: string | undefined;
    topic?: string | undefined;
    parent_id?: string | undefined;
    guild_id?: string | undefined;
  };
  const kind: ChatKind =
    channel.type === DM
      ? "dm"
      : channel.type === GROUP_DM
        ? "group"
        : THREADS.includes(channel.type)
          ? "thread"
          : FORUMS.includes(channel.type)
            ? "forum"
            : "channel";
  return {
    id: channel.id,
    kind,
    name: name || undefined,
    topic: topic || undefined,
    parentId: parent || undefined,
    guildId: guild || undefined,
  };
}

export class ChannelDirectory {
  readonly #rest: REST;
  readonly #file: string;
  readonly #places = new Map<string, ChannelInfo>();
  #threads: string[] | undefined;

  constructor(rest: REST, homePath: string) {
    this.#rest = rest;
    this.#file = join(homePath, "discord_threads.json");
  }

  learn(channel: unknown): void {
    if (typeof channel !== "object" || channel === null || !("id" in channel) || !("type" in channel)) return;
    const place = toChannelInfo(channel as APIChannel);
    this.#places.delete(place.id);
    this.#places.set(place.id, place);
    if (this.#places.size > MAX_CHANNELS) this.#places.delete(this.#places.keys().next().value ?? "");
  }

  async place(id: string, guildId: string | undefined): Promise<ChannelInfo> {
    const known = this.#places.get(id);
    if (known) return known;
    if (guildId === undefined) return { id, kind: "dm" };
    try {
      this.learn(await this.#rest.get(`/channels/${id}`));
    } catch {
      // A channel whose details the bot may not read is treated as a plain one.
      return { id, kind: "channel" };
    }
    return this.#places.get(id) ?? { id, kind: "channel" };
  }

  /** Text and forum channels of every server that the bot is in. */
  async all(): Promise<{ id: string; name: string; kind: ChatKind; guild: string }[]> {
    const guilds = (await this.#rest.get("/users/@me/guilds")) as readonly { id: string; name: string }[];
    const found: { id: string; name: string; kind: ChatKind; guild: string }[] = [];
    for (const guild of guilds) {
      const channels = (await this.#rest.get(`/guilds/${guild.id}/channels`)) as readonly APIChannel[];
      for (const channel of channels) {
        if (![...TEXT, ...FORUMS].includes(channel.type)) continue;
        const { id, kind, name } = toChannelInfo(channel);
        found.push({ id, kind, name: name ?? id, guild: guild.name });
      }
    }
    return found;
  }

  async #load(): Promise<string[]> {
    if (this.#threads) return this.#threads;
    const text = await readFile(this.#file, "utf8").catch(() => "[]");
    let list: unknown = [];
    try {
      list = JSON.parse(text);
    } catch {
      // After a damaged file, the bot must be mentioned again in its threads.
      list = [];
    }
    this.#threads = Array.isArray(list) ? list.map(String) : [];
    return this.#threads;
  }

  async hasJoined(threadId: string): Promise<boolean> {
    return (await this.#load()).includes(threadId);
  }

  async join(threadId: string): Promise<void> {
    const threads = await this.#load();
    if (threads.includes(threadId)) return;
    threads.push(threadId);
    threads.splice(0, Math.max(0, threads.length - MAX_THREADS));
    await atomicWrite(this.#file, JSON.stringify(threads));
  }
}
