// Messages of the gateway itself: answers to commands, acknowledgements, questions.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Button, Destination, Platform } from "../../core/chat/platform.ts";
import { splitText } from "../../core/chat/split-text.ts";
import type { InboxOutcome, InboxRow, NewOutgoing, OutboxPayload } from "../../core/store/mailbox.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { QuestionText } from "../chat/approval-text.ts";
import { indexSaved } from "../chat/chat-entry.ts";
import type { OwnerPlace } from "../chat/owner-places.ts";
import type { GatewayContext } from "../control/gateway-context.ts";
import { sessionKey } from "../inbound/session-key.ts";
import { outgoingText } from "./answer.ts";
import { retryUntilStored } from "./retry-until-stored.ts";

/** How long the platform may take to send a question or its file before the next option is tried. */
const SEND_MS = 15_000;

/** Edits a sent message, where the platform supports that. */
export type Change = (text: string) => void;

export class Replies {
  readonly #gateway: GatewayContext;

  constructor(gateway: GatewayContext) {
    this.#gateway = gateway;
  }

  /** The chat for answers to this message; null when it cannot be reached. */
  where(row: InboxRow): { platform: Platform; to: Destination } | null {
    const { source, deliverTo } = row.event;
    if (typeof deliverTo === "string") return this.#gateway.destination(deliverTo);
    const platform = this.#gateway.platform(row.platform);
    const to = { chatId: source.chatId, threadId: source.threadId || undefined };
    return platform ? { platform, to } : null;
  }

  /** The same, but null for messages that get no answer. */
  #replyTarget(row: InboxRow): { platform: Platform; to: Destination } | null {
    return row.event.deliverTo === null ? null : this.where(row);
  }

  async finish(row: InboxRow, outcome: InboxOutcome, outgoing: readonly NewOutgoing[] = []): Promise<void> {
    const { opened, sender } = this.#gateway;
    await indexSaved(this.#gateway, sessionKey(row.event.source, this.#gateway.keyRules));
    const { mailbox } = opened;
    await retryUntilStored(this.#gateway, () =>
      sender.storeAndSend(outgoing, (sending) =>
        mailbox.finish([row.id, ...(row.absorbed ?? [])], outcome, outgoing, sending),
      ),
    );
  }

  /** Finishes the message with this answer. */
  async reply(
    row: InboxRow,
    text: string,
    outcome: InboxOutcome,
    buttons?: readonly (readonly Button[])[],
  ): Promise<void> {
    const where = this.#replyTarget(row);
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
   * Sends a notice that is not repeated after a crash. Returns a function that edits it. Never rejects: a failed notice
   * must not affect the turn.
   */
  async say(row: InboxRow, text: string, name: string): Promise<Change> {
    try {
      return await this.#showNow(row, name, { type: "text", text, silent: true });
    } catch (error) {
      const why = errorMessage(error);
      this.#gateway.log("warning", `in:${row.id}:${name} was not sent: ${why}`);
      return () => undefined;
    }
  }

  /** Sends a question. Returns a function that edits it. */
  async show(row: InboxRow, question: QuestionText, buttons: readonly (readonly Button[])[]): Promise<Change> {
    const where = this.#replyTarget(row);
    if (!where) return () => undefined;
    return (await this.#ask(where, `in:${row.id}:ask:${randomBytes(4).toString("hex")}`, question, buttons)).change;
  }

  /** The same in a chat of the owner; null when the platform did not send it in time. */
  async showOwner(
    where: OwnerPlace,
    question: QuestionText,
    buttons: readonly (readonly Button[])[],
  ): Promise<Change | null> {
    const { change, sent } = await this.#ask(where, `owner:${randomBytes(8).toString("hex")}`, question, buttons);
    return (await this.#withinTimeout(sent)) === null ? null : change;
  }

  async #withinTimeout(sent: Promise<string | null>): Promise<string | null> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), SEND_MS);
    });
    try {
      return await Promise.race([sent, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #ask(where: OwnerPlace, key: string, question: QuestionText, buttons: readonly (readonly Button[])[]) {
    if (question.fullCommand !== undefined) await this.#showFullCommand(where, key, question.fullCommand);
    return this.#enqueue(where, key, {
      type: "text",
      text: question.text,
      buttons: buttons.length > 0 ? buttons : undefined,
    });
  }

  /** Sends the whole command before the question: as a file, or as messages when the platform takes no file. */
  async #showFullCommand(where: OwnerPlace, key: string, fullCommand: string): Promise<void> {
    const { platform } = where;
    if (platform.capabilities.media.includes("document")) {
      const { path: home } = this.#gateway.opened.app.home;
      const path = join(home, "cache", "documents", `command_${randomBytes(8).toString("hex")}.txt`);
      await atomicWrite(path, `${fullCommand}\n`, 0o600);
      const file = { type: "file", kind: "document", path, name: "command.txt" } as const;
      const { sent } = await this.#enqueue(where, `${key}:file`, file);
      if ((await this.#withinTimeout(sent)) !== null) return;
    }
    const parts = splitText(`\`\`\`\n${fullCommand}\n\`\`\``, { max: platform.maxLength, unit: platform.lengthUnit });
    for (const [index, text] of parts.entries())
      await this.#enqueue(where, `${key}:part${index}`, { type: "text", text, silent: true });
  }

  async #showNow(row: InboxRow, name: string, payload: OutboxPayload): Promise<Change> {
    const where = this.#replyTarget(row);
    if (!where) return () => undefined;
    return (await this.#enqueue(where, `in:${row.id}:${name}`, payload)).change;
  }

  /** Queues a message that is not repeated after a crash. */
  async #enqueue(
    { platform, to }: OwnerPlace,
    key: string,
    payload: OutboxPayload,
  ): Promise<{ readonly change: Change; readonly sent: Promise<string | null> }> {
    const { opened, sender } = this.#gateway;
    const rows = await opened.mailbox.enqueue([{ key, platform: platform.name, to, payload, ephemeral: true }]);
    const [shown] = rows;
    if (!shown) return { change: () => undefined, sent: Promise.resolve(null) };
    const sent = sender.whenSent(shown);
    sender.add(rows);
    const change: Change = (after) => {
      void sent.then((messageId) => {
        if (messageId && platform.capabilities.edit)
          sender.editSoon(platform.name, to, { messageId, message: { text: after } });
      });
    };
    return { change, sent };
  }
}
