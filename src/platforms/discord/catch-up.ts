// Messages of a time when Discord had forgotten the session: asked for by the last one seen in each place.
import type { APIMessage, REST } from "discord.js";
import type { PlatformContext } from "../../core/platform.ts";
import type { ChannelBook } from "./channel-book.ts";
import type { Incoming } from "./inbound.ts";
import { snowflakeAt } from "./outbound.ts";

const KEY = "last_seen";
const MAX_PLACES = 200;
/** Older questions would be answered to nobody's use. */
const MAX_AGE_MS = 86_400_000;

export class CatchUp {
  readonly #context: PlatformContext;
  #last: Map<string, string> | undefined;

  constructor(context: PlatformContext) {
    this.#context = context;
  }

  async #load(): Promise<Map<string, string>> {
    if (!this.#last) {
      const text = await this.#context.memory.get(KEY);
      this.#last = new Map(text === null ? [] : (JSON.parse(text) as [string, string][]));
    }
    return this.#last;
  }

  /** A place where the bot is talked to, and how far it was read. */
  async seen(channelId: string, messageId: string): Promise<void> {
    const last = await this.#load();
    if (BigInt(last.get(channelId) ?? "0") >= BigInt(messageId)) return;
    last.delete(channelId);
    last.set(channelId, messageId);
    for (const old of last.keys()) {
      if (last.size <= MAX_PLACES) break;
      last.delete(old);
    }
    await this.#context.memory.set(KEY, JSON.stringify([...last]));
  }

  /** What was said since, place by place, oldest first. Empty at the very first start. */
  async missed(rest: REST, book: ChannelBook): Promise<Incoming[]> {
    const found: Incoming[] = [];
    const oldest = BigInt(snowflakeAt(this.#context.now() - MAX_AGE_MS));
    for (const [channelId, messageId] of await this.#load()) {
      const after = BigInt(messageId) > oldest ? messageId : String(oldest);
      const query = new URLSearchParams({ after, limit: "100" });
      try {
        const place = await book.place(channelId, "unknown");
        const newestFirst = (await rest.get(`/channels/${channelId}/messages`, { query })) as APIMessage[];
        const here = newestFirst.map((message) => ({
          ...message,
          ...(place.guildId ? { guild_id: place.guildId } : {}),
        }));
        found.push(...(here.reverse() as Incoming[]));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#context.log("warning", `channel ${channelId} could not be looked through: ${reason}`);
      }
    }
    return found;
  }
}
