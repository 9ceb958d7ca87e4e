// Sends e-mail: in threads, as text and simple HTML, with the same Message-ID at every attempt.
import { createHash } from "node:crypto";
import {
  type Destination,
  isFile,
  type OutboundFile,
  type OutboundMessage,
  type SendProof,
  type SendResult,
  type UnknownSend,
} from "../../core/chat/platform.ts";
import { truncate } from "../../lib/text/truncate.ts";
import { toEmailHtml } from "./email-html.ts";
import { findSentEmail } from "./sent-emails.ts";
import type { EmailSettings } from "./settings.ts";
import { baseSubject, type Thread, type Threads } from "./threads.ts";
import type { Transporter } from "./transporter.ts";

const MAX_SUBJECT = 78;

interface SmtpError {
  readonly code?: string | undefined;
  readonly responseCode?: number | undefined;
  readonly command?: string | undefined;
  readonly message: string;
}

/** Errors of the e-mail itself: an invalid address, too large, an unreadable file. */
const REJECTED_MESSAGE_CODES = ["EENVELOPE", "EMESSAGE", "ESTREAM"];

/** The server's reply decides. Without one, the e-mail may be delivered if its transfer had started. */
export function sendFailure(error: unknown, transferStarted: boolean): Extract<SendResult, { ok: false }> {
  const { code = "", responseCode, command, message } = error as SmtpError;
  const reason = message.split("\n")[0] ?? "the e-mail was not sent";
  if (responseCode !== undefined)
    return { ok: false, kind: responseCode >= 500 && !command?.startsWith("AUTH") ? "refused" : "retry", reason };
  if (REJECTED_MESSAGE_CODES.includes(code)) return { ok: false, kind: "refused", reason };
  return { ok: false, kind: transferStarted ? "unknown" : "retry", reason };
}

interface Outgoing {
  readonly key: string;
  readonly title: string;
  readonly body: object;
}

async function toMailOptions(message: OutboundMessage | OutboundFile): Promise<Outgoing> {
  const key = message.idempotencyKey;
  if (!isFile(message)) {
    const { text } = message;
    return { key, title: text, body: { text, html: await toEmailHtml(text) } };
  }
  const title = message.caption ?? message.name;
  return { key, title, body: { text: title, attachments: [{ filename: message.name, path: message.path }] } };
}

export class EmailSender {
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

  async send(to: Destination, message: OutboundMessage | OutboundFile, signal: AbortSignal): Promise<SendResult> {
    if (signal.aborted) return { ok: false, kind: "retry", reason: "stopped" };
    const email = await toMailOptions(message);
    const known = to.threadId ? await this.#threads.get(to.threadId) : null;
    const messageId = this.#messageId(email.key);
    const last = known?.references.at(-1);
    const mail = {
      from: this.#settings.address,
      to: to.chatId,
      subject: buildSubject(known, email),
      messageId,
      ...(known && last ? { inReplyTo: last, references: known.references.join(" ") } : {}),
      headers: { "Auto-Submitted": known ? "auto-replied" : "auto-generated" },
      disableUrlAccess: true,
      ...email.body,
    };
    let transferStarted = false;
    try {
      await this.#transporter.sendMail(mail, () => {
        transferStarted = true;
      });
    } catch (error) {
      return sendFailure(error, transferStarted);
    }
    return this.#recordSent(to, known, email);
  }

  /** Replies to the e-mail are recognised from now on. */
  async #recordSent(
    to: Destination,
    known: Thread | null,
    email: Outgoing,
  ): Promise<SendResult & { readonly ok: true }> {
    const messageId = this.#messageId(email.key);
    const id = await this.#threads.find(to.chatId, messageId, []);
    const thread: Thread = known ?? { id, subject: baseSubject(buildSubject(known, email)), references: [] };
    await this.#threads.add(to.chatId, thread, messageId);
    return { ok: true, messageId };
  }

  /** Searches the account's sent e-mails by Message-ID. Rejects when the server cannot be reached. */
  async findSent({ to, message }: UnknownSend): Promise<SendProof> {
    const email = await toMailOptions(message);
    const found = await findSentEmail(this.#settings, this.#messageId(email.key));
    if (found !== "there") return { sent: found === "absent" ? false : "unknown" };
    const known = to.threadId ? await this.#threads.get(to.threadId) : null;
    const { messageId } = await this.#recordSent(to, known, email);
    return { sent: true, messageId };
  }
}

function buildSubject(known: Thread | null, email: Outgoing): string {
  return known ? `Re: ${known.subject || "your message"}` : buildTitle(email.title);
}

function buildTitle(text: string): string {
  const line = text.split("\n").find((part) => part.trim() !== "") ?? "A message from Hermes";
  const plain = line.replaceAll(/[#*`_>]/g, "").trim();
  return truncate(plain, MAX_SUBJECT);
}
