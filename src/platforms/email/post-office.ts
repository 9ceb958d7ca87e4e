// Sending letters: threaded, as text with a simple HTML form beside it, with a Message-ID that is the same at every try.
import { createHash } from "node:crypto";
import type { Destination, OutboundFile, OutboundMessage, SendResult } from "../../core/platform.ts";
import { simpleHtml } from "./letter-text.ts";
import type { EmailSettings } from "./settings.ts";
import { baseSubject, type Thread, type Threads } from "./threads.ts";
import type { Transporter } from "./transporter.ts";

const MAX_SUBJECT = 78;

interface SmtpTrouble {
  readonly responseCode?: number;
  readonly command?: string;
  readonly message: string;
}

/** Before the letter's text has left, nothing can have been delivered. */
export function failureOf(error: unknown): Extract<SendResult, { ok: false }> {
  const { responseCode, command, message } = error as SmtpTrouble;
  const reason = message.split("\n")[0] ?? "the letter was not sent";
  if (responseCode !== undefined)
    return { ok: false, kind: responseCode >= 500 && command !== "AUTH" ? "refused" : "retry", reason };
  return { ok: false, kind: command === "DATA" ? "unknown" : "retry", reason };
}

export class PostOffice {
  readonly #settings: EmailSettings;
  readonly #threads: Threads;
  readonly #transporter: Transporter;

  constructor(settings: EmailSettings, threads: Threads, transporter: Transporter) {
    this.#settings = settings;
    this.#threads = threads;
    this.#transporter = transporter;
  }

  #messageId(key: string): string {
    const domain = this.#settings.address.split("@")[1] ?? "localhost";
    return `<${createHash("sha256").update(key).digest("hex").slice(0, 32)}@${domain}>`;
  }

  send(to: Destination, message: OutboundMessage, signal: AbortSignal): Promise<SendResult> {
    const body = { text: message.text, html: simpleHtml(message.text) };
    return this.#deliver(to, { key: message.idempotencyKey, title: message.text, body }, signal);
  }

  sendFile(to: Destination, file: OutboundFile, signal: AbortSignal): Promise<SendResult> {
    const text = file.caption ?? file.name;
    const body = { text, attachments: [{ filename: file.name, path: file.path }] };
    return this.#deliver(to, { key: file.idempotencyKey, title: text, body }, signal);
  }

  async #deliver(
    to: Destination,
    letter: { readonly key: string; readonly title: string; readonly body: object },
    signal: AbortSignal,
  ): Promise<SendResult> {
    if (signal.aborted) return { ok: false, kind: "retry", reason: "stopped" };
    const known = to.threadId ? await this.#threads.get(to.threadId) : null;
    const messageId = this.#messageId(letter.key);
    const last = known?.references.at(-1);
    const subject = known ? `Re: ${known.subject || "your message"}` : titleOf(letter.title);
    try {
      await this.#transporter.sendMail({
        from: this.#settings.address,
        to: to.chatId,
        subject,
        messageId,
        ...(known && last ? { inReplyTo: last, references: known.references.join(" ") } : {}),
        headers: { "Auto-Submitted": known ? "auto-replied" : "auto-generated" },
        disableUrlAccess: true,
        ...letter.body,
      });
    } catch (error) {
      return failureOf(error);
    }
    const id = await this.#threads.find(to.chatId, messageId, []);
    const thread: Thread = known ?? { id, subject: baseSubject(subject), references: [] };
    await this.#threads.add(to.chatId, thread, messageId);
    return { ok: true, messageId };
  }
}

function titleOf(text: string): string {
  const line = text.split("\n").find((part) => part.trim() !== "") ?? "A message from Hermes";
  const plain = line.replaceAll(/[#*`_>]/g, "").trim();
  return plain.length > MAX_SUBJECT ? `${plain.slice(0, MAX_SUBJECT - 1)}…` : plain;
}
