// Sends messages outside of turns: results of scheduled jobs, notices, messages to a home channel.

import type { Destination, Platform } from "../../core/chat/platform.ts";
import type { Deliverer, DeliveryMessage, DeliveryTarget, KnownChat } from "../../core/job.ts";
import type { Mailbox, NewOutgoing } from "../../core/store/mailbox.ts";
import { resolveChat } from "../../delivery/api/channel-directory.ts";
import { deliveryRows } from "../../delivery/api/delivery-rows.ts";
import { PLATFORM_NAMES } from "../../delivery/api/targets.ts";
import type { LinkState } from "../control/platform-link.ts";
import type { Sender } from "./sender.ts";

export interface DeliveryParts {
  readonly mailbox: Mailbox;
  readonly sender: Sender;
  readonly platforms: ReadonlyMap<string, Platform>;
  link(platform: string): LinkState | undefined;
  home(platform: string): Destination | undefined;
  /** The known chats. */
  chats(): readonly KnownChat[];
  /** Adds the message to the session of the chat. */
  mirror(target: DeliveryTarget, from: string, text: string): void;
}

export class Deliveries implements Deliverer {
  readonly #parts: DeliveryParts;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  known(): readonly string[] {
    return [...new Set([...PLATFORM_NAMES, ...this.#parts.platforms.keys()])];
  }

  problem(platform: string): string | undefined {
    if (!this.known().includes(platform)) return `There is no platform "${platform}".`;
    const link = this.#parts.link(platform);
    if (!link) return `${platform} is not set up here (hermes gateway setup)`;
    return link.state === "fatal"
      ? `${platform} cannot be used: ${link.reason ?? "its settings were rejected"}`
      : undefined;
  }

  home(platform: string): DeliveryTarget | undefined {
    const home = this.#parts.home(platform);
    return home ? { platform, ...home } : undefined;
  }

  async resolve(platform: string, reference: string): Promise<DeliveryTarget | undefined> {
    return resolveChat(this.#parts.chats(), platform, reference);
  }

  async chats(): Promise<readonly KnownChat[]> {
    return this.#parts.chats();
  }

  /** `platform`, `platform:chat` or `platform:chat:thread`; null when nothing can be sent there. */
  destination(target: string): { platform: Platform; to: Destination } | null {
    const [name = "", chatId, threadId] = target.split(":");
    const platform = this.#parts.platforms.get(name);
    if (!platform || !this.#parts.link(name)) return null;
    const to = chatId ? { chatId, threadId: threadId || undefined } : this.#parts.home(name);
    return to ? { platform, to } : null;
  }

  async send(target: DeliveryTarget, message: DeliveryMessage): Promise<string | undefined> {
    const problem = this.problem(target.platform);
    const platform = this.#parts.platforms.get(target.platform);
    if (problem || !platform) return problem ?? `There is no platform "${target.platform}".`;
    return this.#dispatch(deliveryRows(platform, target, message), target, message);
  }

  /** Stores the message in the outbox; waits for the platform only when the message asks for it. */
  async #dispatch(
    outgoing: readonly NewOutgoing[],
    target: DeliveryTarget,
    message: DeliveryMessage,
  ): Promise<string | undefined> {
    const { sender, mailbox } = this.#parts;
    const rows = await mailbox.enqueue(outgoing);
    const sent = Promise.all(rows.map((row) => sender.whenSent(row)));
    sender.add(rows);
    if (message.mirrorFrom !== undefined && rows.length > 0) {
      const from = message.mirrorFrom;
      void sent.then((ids) => (ids.includes(null) ? undefined : this.#parts.mirror(target, from, message.text)));
    }
    if (message.waitMs === undefined) return undefined;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"late">((resolve) => {
      timer = setTimeout(() => resolve("late"), message.waitMs);
    });
    const ids = await Promise.race([sent, late]);
    clearTimeout(timer);
    // Messages in progress stay in the outbox and are sent later.
    const refused = ids === "late" ? undefined : rows[ids.indexOf(null)];
    if (!refused) return undefined;
    return (await mailbox.findOutgoing(refused.key))?.error ?? "the platform refused it";
  }
}
