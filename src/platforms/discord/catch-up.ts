// Fetches messages that were missed while there was no session, after the last one seen in each channel.
import type { REST } from "discord.js";
import type { PlatformContext } from "../../core/chat/platform.ts";
import type { ChannelDirectory } from "./channel-directory.ts";
import { readAfter } from "./history.ts";
import type { Incoming } from "./inbound.ts";
import { snowflakeAt } from "./outbound.ts";
import { sendFailure } from "./rest-client.ts";

const KEY = "last_seen";
const MAX_CHANNELS = 200;
const MAX_PAGES = 10;
/** Older messages are not answered any more. */
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

  /** Records the last seen message of a channel in which the bot is used. */
  async seen(channelId: string, messageId: string): Promise<void> {
    const last = await this.#load();
    if (BigInt(last.get(channelId) ?? "0") >= BigInt(messageId)) return;
    last.delete(channelId);
    last.set(channelId, messageId);
    for (const old of last.keys()) {
      if (last.size <= MAX_CHANNELS) break;
      last.delete(old);
    }
    await this.#context.memory.set(KEY, JSON.stringify([...last]));
  }

  /** The missed messages per channel, oldest first. Empty at the first start. Rejects when it has to be retried. */
  async missed(rest: REST, repository: ChannelDirectory): Promise<Incoming[]> {
    const found: Incoming[] = [];
    const oldest = BigInt(snowflakeAt(this.#context.now() - MAX_AGE_MS));
    for (const [channelId, messageId] of await this.#load()) {
      const after = BigInt(messageId) > oldest ? messageId : String(oldest);
      try {
        const place = await repository.place(channelId, "unknown");
        const { messages, complete } = await readAfter(rest, channelId, { after, pages: MAX_PAGES });
        if (!complete) this.#context.log("warning", `channel ${channelId} has more missed messages than are read`);
        // Handled as new, not as edited: the bot has not seen the earlier text.
        const here = messages.map((message) => ({
          ...message,
          edited_timestamp: null,
          guild_id: place.guildId,
        }));
        found.push(...(here as Incoming[]));
      } catch (error) {
        const { kind, reason } = sendFailure(error);
        if (kind !== "refused") throw error;
        this.#context.log("warning", `channel ${channelId} could not be read: ${reason}`);
      }
    }
    return found;
  }
}
