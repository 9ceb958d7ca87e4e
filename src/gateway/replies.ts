// What the gateway itself says in a chat: answers to commands, acknowledgements, questions.
import { randomBytes } from "node:crypto";
import type { InboxOutcome, InboxRow, NewOutgoing, OutboxPayload } from "../core/mailbox.ts";
import type { Button, Destination, Platform } from "../core/platform.ts";
import { outgoingText } from "./answer.ts";
import { indexSaved } from "./chat-entry.ts";
import { insist } from "./insist.ts";
import type { Office } from "./office.ts";
import { sessionKeyOf } from "./session-key.ts";

/** Gives a message on the screen other words, where the platform can do that. */
export type Change = (text: string) => void;

export class Replies {
  readonly #office: Office;

  constructor(office: Office) {
    this.#office = office;
  }

  /** Where answers to this message go; null when that place cannot be reached. */
  where(row: InboxRow): { platform: Platform; to: Destination } | null {
    const { source, deliverTo } = row.event;
    if (typeof deliverTo === "string") return this.#office.destination(deliverTo);
    const platform = this.#office.platform(row.platform);
    const to = { chatId: source.chatId, ...(source.threadId ? { threadId: source.threadId } : {}) };
    return platform ? { platform, to } : null;
  }

  /** The same, but null for what is answered nowhere. */
  #speakable(row: InboxRow): { platform: Platform; to: Destination } | null {
    return row.event.deliverTo === null ? null : this.where(row);
  }

  async finish(row: InboxRow, outcome: InboxOutcome, outgoing: readonly NewOutgoing[] = []): Promise<void> {
    const { opened, sender } = this.#office;
    await indexSaved(this.#office, sessionKeyOf(row.event.source, this.#office.keyRules));
    const { mailbox } = opened;
    await insist(this.#office, () =>
      sender.handOver(outgoing, (sending) =>
        mailbox.finish([row.id, ...(row.absorbed ?? [])], outcome, outgoing, sending),
      ),
    );
  }

  /** The message is done and this is its answer. */
  async reply(
    row: InboxRow,
    text: string,
    outcome: InboxOutcome,
    buttons?: readonly (readonly Button[])[],
  ): Promise<void> {
    const where = this.#speakable(row);
    if (!where || text === "") return this.finish(row, outcome);
    const outgoing = outgoingText(text, { ...where, key: `in:${row.id}`, replyMode: "off" });
    const last = outgoing.at(-1);
    if (last && buttons) {
      const payload = { ...(last.payload as OutboxPayload & { type: "text" }), buttons };
      outgoing[outgoing.length - 1] = { ...last, payload };
    }
    return this.finish(row, outcome, outgoing);
  }

  /**
   * A word in between that is worth nothing after a crash; answers with a way to change it. Never rejects: what it is about
   * must not suffer with it.
   */
  async say(row: InboxRow, text: string, name: string): Promise<Change> {
    try {
      return await this.#showNow(row, name, { type: "text", text, silent: true });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.#office.log("warning", `in:${row.id}:${name} was not said: ${why}`);
      return () => undefined;
    }
  }

  /** Shows a question; answers with a way to change it afterwards. */
  show(row: InboxRow, text: string, buttons: readonly (readonly Button[])[]): Promise<Change> {
    const payload = { type: "text" as const, text, ...(buttons.length > 0 ? { buttons } : {}) };
    return this.#showNow(row, `ask:${randomBytes(4).toString("hex")}`, payload);
  }

  async #showNow(row: InboxRow, name: string, payload: OutboxPayload): Promise<Change> {
    const where = this.#speakable(row);
    if (!where) return () => undefined;
    const { platform, to } = where;
    const { opened, sender } = this.#office;
    const key = `in:${row.id}:${name}`;
    const rows = await opened.mailbox.enqueue([{ key, platform: platform.name, to, payload, ephemeral: true }]);
    const [shown] = rows;
    if (!shown) return () => undefined;
    const sent = sender.whenSent(shown);
    sender.add(rows);
    return (after) => {
      void sent.then((messageId) => {
        if (messageId && platform.capabilities.edit)
          sender.editSoon(platform.name, to, { messageId, message: { text: after } });
      });
    };
  }
}
