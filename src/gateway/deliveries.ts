// Sending on request, outside any turn: results of scheduled jobs, notices, messages to a home channel.
import { randomUUID } from "node:crypto";
import { basename, extname } from "node:path";
import type { Deliverer, DeliveryMessage, DeliveryTarget } from "../core/job.ts";
import type { Mailbox, NewOutgoing } from "../core/mailbox.ts";
import type { Destination, Platform } from "../core/platform.ts";
import { outgoingText } from "./answer.ts";
import { mediaKindOf } from "./media.ts";
import type { LinkState } from "./platform-link.ts";
import type { Sender } from "./sender.ts";

export interface DeliveryParts {
  readonly mailbox: Mailbox;
  readonly sender: Sender;
  readonly platforms: ReadonlyMap<string, Platform>;
  link(platform: string): LinkState | undefined;
  home(platform: string): Destination | undefined;
}

export class Deliveries implements Deliverer {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  known(): readonly string[] {
    return [...this.#parts.platforms.keys()];
  }

  problem(platform: string): string | undefined {
    if (!this.#parts.platforms.has(platform)) return `There is no platform "${platform}".`;
    const link = this.#parts.link(platform);
    if (!link) return `${platform} is not set up. Run: hermes gateway setup`;
    return link.state === "fatal"
      ? `${platform} cannot be used: ${link.reason ?? "it refused our settings"}`
      : undefined;
  }

  home(platform: string): DeliveryTarget | undefined {
    const home = this.#parts.home(platform);
    return home ? { platform, ...home } : undefined;
  }

  /** Chats are named by their ids; a leading # or @ is not part of them. */
  async resolve(_platform: string, reference: string): Promise<string | undefined> {
    return /^-?\d+$/.test(reference) || reference.startsWith("@") ? reference : undefined;
  }

  /** `platform`, `platform:chat` or `platform:chat:thread`; null when nothing can be sent there. */
  destination(target: string): { platform: Platform; to: Destination } | null {
    const [name = "", chatId, threadId] = target.split(":");
    const platform = this.#parts.platforms.get(name);
    if (!platform || !this.#parts.link(name)) return null;
    const to = chatId ? { chatId, ...(threadId ? { threadId } : {}) } : this.#parts.home(name);
    return to ? { platform, to } : null;
  }

  async send(target: DeliveryTarget, message: DeliveryMessage): Promise<string | undefined> {
    const problem = this.problem(target.platform);
    const platform = this.#parts.platforms.get(target.platform);
    if (problem || !platform) return problem ?? `There is no platform "${target.platform}".`;
    const to = { chatId: target.chatId, ...(target.threadId ? { threadId: target.threadId } : {}) };
    const key = `job:${message.jobId}:${randomUUID()}`;
    const texts = message.text.trim() === "" ? [] : outgoingText(message.text, { platform, to, key, replyMode: "off" });
    const files = message.media.map((path, index): NewOutgoing => {
      const kind = mediaKindOf(extname(path).slice(1).toLowerCase());
      return {
        key: `${key}:f${index}`,
        platform: platform.name,
        to,
        payload: { type: "file", kind, path, name: basename(path) },
      };
    });
    this.#parts.sender.add(await this.#parts.mailbox.enqueue([...texts, ...files]));
    return undefined;
  }
}
