// The chats that the gateway knows, from messages and from platforms that list their channels; stored in a file.

import type { PlatformConnection } from "../../core/chat/platform.ts";
import type { KnownChat } from "../../core/job.ts";
import { writeDirectory } from "../../delivery/api/channel-directory.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { SessionEntry } from "../inbound/session-index.ts";

const WRITE_DELAY_MS = 5_000;
/** Platforms without chats. */
const NO_CHATS = ["webhook", "api_server"];

export interface DirectoryParts {
  readonly homePath: string;
  entries(): Iterable<SessionEntry>;
  /** Platforms that are set up, connected or not. */
  connections(): Iterable<readonly [string, PlatformConnection | undefined]>;
  now(): number;
  report(text: string): void;
}

/** In e-mail a thread is a subject, not a chat. */
function parseChat(entry: SessionEntry): KnownChat | null {
  const { platform, origin } = entry;
  const chatId = String(origin?.chat_id ?? "");
  if (chatId === "" || NO_CHATS.includes(platform)) return null;
  const base = String(origin.chat_name ?? origin.user_name ?? chatId);
  const threadId = origin.thread_id && platform !== "email" ? String(origin.thread_id) : undefined;
  const name = threadId ? `${base} / ${String(origin.chat_topic ?? `topic ${threadId}`)}` : base;
  return { platform, chatId, name, kind: entry.chat_type, threadId };
}

export class Directory {
  readonly #parts: DirectoryParts;
  readonly #listed = new Map<string, readonly KnownChat[]>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: DirectoryParts) {
    this.#parts = parts;
  }

  /** Every chat once; channels listed by platforms come first. */
  chats(): readonly KnownChat[] {
    const found = new Map<string, KnownChat>();
    const here = new Set<string>();
    for (const [platform] of this.#parts.connections()) {
      here.add(platform);
      for (const chat of this.#listed.get(platform) ?? []) found.set(buildKey(chat), chat);
    }
    for (const entry of this.#parts.entries()) {
      const chat = parseChat(entry);
      if (chat && here.has(chat.platform) && !found.has(buildKey(chat))) found.set(buildKey(chat), chat);
    }
    return [...found.values()];
  }

  /** Schedules a write after a new chat appeared. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#write();
    }, WRITE_DELAY_MS).unref();
  }

  /** Asks the platforms for their channels. A platform that does not answer keeps its last list. */
  async refresh(): Promise<void> {
    for (const [platform, connection] of this.#parts.connections()) {
      try {
        const channels = await connection?.channels?.();
        if (channels)
          this.#listed.set(
            platform,
            channels.map(({ id, ...rest }) => ({ platform, chatId: id, ...rest })),
          );
      } catch (error) {
        this.#parts.report(`the channels of ${platform} could not be listed: ${errorMessage(error)}`);
      }
    }
    await this.#write();
  }

  async #write(): Promise<void> {
    try {
      await writeDirectory(this.#parts.homePath, this.chats(), this.#parts.now());
    } catch (error) {
      this.#parts.report(`channel_directory.json was not written: ${errorMessage(error)}`);
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#timer) await this.#write();
  }
}

function buildKey({ platform, chatId, threadId }: KnownChat): string {
  return `${platform}\n${chatId}\n${threadId ?? ""}`;
}
