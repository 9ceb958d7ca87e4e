// E-mail: receives by IMAP, sends by SMTP, one conversation per thread.

import type {
  Attachment,
  InboundEvent,
  MediaKind,
  Platform,
  PlatformConnection,
  PlatformContext,
} from "../../core/chat/platform.ts";
import { UserError } from "../../core/failure.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { EmailSender } from "./email-sender.ts";
import type { IncomingEmail } from "./incoming-email.ts";
import { isAllowed, isProven, loopReason, parseEmail } from "./incoming-email.ts";
import { Mailbox, openImap } from "./mailbox.ts";
import { EMAIL_SETTINGS, type EmailSettings, readSettings } from "./settings.ts";
import { baseSubject, Threads } from "./threads.ts";
import { openTransporter } from "./transporter.ts";

function findKind(mime: string): MediaKind {
  const [group] = mime.split("/");
  return group === "image" || group === "video" || group === "audio" ? group : "document";
}

function readAttachments(email: IncomingEmail, uid: number): Attachment[] {
  return email.files.map((file, index) => ({
    kind: findKind(file.mime),
    name: file.name,
    mime: file.mime,
    bytes: file.bytes.byteLength,
    ref: JSON.stringify({ uid, index, messageId: email.messageId }),
  }));
}

/** The subject is included once per thread: replies repeat it. */
function readWords(email: IncomingEmail): string {
  const isReply = email.references.length > 0;
  const subject = baseSubject(email.subject);
  return isReply || subject === "" ? email.text : `Subject: ${subject}\n\n${email.text}`.trim();
}

class Reader {
  readonly #context: PlatformContext;
  readonly #settings: EmailSettings;
  readonly #threads: Threads;

  constructor(context: PlatformContext, settings: EmailSettings, threads: Threads) {
    this.#context = context;
    this.#settings = settings;
    this.#threads = threads;
  }

  async take(uid: number, source: Uint8Array): Promise<void> {
    const read = await parseEmail(source).catch((error: unknown) => {
      // An e-mail that cannot be parsed is skipped: it must not block the others.
      this.#context.log("warning", `an e-mail could not be read: ${errorMessage(error)}`);
      return null;
    });
    if (read === null) return;
    const { message, email } = read;
    const { address, allowed } = this.#settings;
    const reason =
      loopReason(email, message, address) ??
      (isAllowed(message.from, allowed) ? undefined : "its sender is not allowed") ??
      (isProven(email, message.from, this.#settings) ? undefined : "the mail server could not verify its sender");
    if (reason !== undefined) return this.#context.log("info", `an e-mail was ignored: ${reason}`);
    const text = readWords(message);
    if (text === "" && message.files.length === 0) return;
    const messageId = message.messageId || `uid:${uid}`;
    const id = await this.#threads.find(message.from, messageId, message.references);
    const known = await this.#threads.get(id);
    const thread = known ?? { id, subject: baseSubject(message.subject), references: message.references };
    await this.#threads.add(message.from, thread, messageId);
    const attachments = readAttachments(message, uid);
    const event: InboundEvent = {
      account: address,
      messageId,
      source: {
        platform: "email",
        chatId: message.from,
        chatKind: "dm",
        threadId: id,
        chatTopic: thread.subject || undefined,
        userId: message.from,
        userName: message.name || undefined,
      },
      text,
      attachments: attachments.length > 0 ? attachments : undefined,
      at: message.at,
    };
    await this.#context.receive(event);
  }
}

async function download(mailbox: Mailbox, attachment: Attachment): Promise<Uint8Array> {
  const { uid, index, messageId } = JSON.parse(attachment.ref) as { uid: number; index: number; messageId: string };
  const source = await mailbox.source(uid);
  if (source === null) throw new Error("the e-mail is no longer in the mailbox");
  const { message } = await parseEmail(source);
  const file = message.files[index];
  if (!file || message.messageId !== messageId) throw new Error("the e-mail has changed");
  return file.bytes;
}

function loginError(error: unknown, what: string): Error {
  const { authenticationFailed, responseCode, message } = error as {
    authenticationFailed?: boolean | undefined;
    responseCode?: number | undefined;
    message?: string | undefined;
  };
  if (authenticationFailed || responseCode === 535)
    return new UserError(`the ${what} server does not accept the name or the password`, {
      hint: "Check EMAIL_ADDRESS and EMAIL_PASSWORD in ~/.hermes/.env; many providers want an app password.",
    });
  return new Error(`the ${what} server cannot be used: ${message ?? String(error)}`);
}

async function connect(context: PlatformContext): Promise<PlatformConnection> {
  const settings = readSettings(context);
  if (settings.allowed.length === 0)
    context.log("warning", "no sender is allowed: set EMAIL_ALLOWED_USERS to the addresses that may write");
  const threads = new Threads(context);
  const transporter = await openTransporter(settings);
  await transporter.verify().catch((error: unknown) => {
    throw loginError(error, "SMTP");
  });
  const client = await openImap(settings).catch((error: unknown) => {
    transporter.close();
    throw loginError(error, "IMAP");
  });
  const reader = new Reader(context, settings, threads);
  const mailbox = new Mailbox(client, { settings, context, take: (uid, source) => reader.take(uid, source) });
  await mailbox.open().catch(async (error: unknown) => {
    await mailbox.close();
    throw new Error(`the folder ${settings.folder} cannot be opened: ${errorMessage(error)}`);
  });
  const sender = new EmailSender(settings, threads, transporter);
  let closing: Promise<void> | undefined;
  return {
    account: settings.address,
    accountName: settings.address,
    send: (to, message, signal) => sender.send(to, message, signal),
    sendFile: (to, file, signal) => sender.send(to, file, signal),
    findSent: (unknown) => sender.findSent(unknown),
    download: (attachment) => download(mailbox, attachment),
    health: () => mailbox.health(),
    close: () => {
      transporter.close();
      closing ??= mailbox.close();
      return closing;
    },
  };
}

/** Signs in for sending only; the gateway receives. */
async function openSender(context: PlatformContext): Promise<PlatformConnection> {
  const settings = readSettings(context);
  const transporter = await openTransporter(settings);
  await transporter.verify().catch((error: unknown) => {
    transporter.close();
    throw loginError(error, "SMTP");
  });
  const sender = new EmailSender(settings, new Threads(context), transporter);
  return {
    account: settings.address,
    accountName: settings.address,
    send: (to, message, signal) => sender.send(to, message, signal),
    sendFile: (to, file, signal) => sender.send(to, file, signal),
    findSent: (unknown) => sender.findSent(unknown),
    health: () => ({ state: "ok", provenAt: context.now() }),
    close: async () => transporter.close(),
  };
}

async function prove(context: PlatformContext): Promise<void> {
  const client = await openImap(readSettings(context)).catch((error: unknown) => {
    throw loginError(error, "IMAP");
  });
  await client.logout();
}

export const emailPlatform: Platform = {
  name: "email",
  label: "E-mail",
  maxLength: 50_000,
  lengthUnit: "codepoints",
  capabilities: {
    edit: false,
    delete: false,
    buttons: false,
    threads: true,
    typing: false,
    reactions: false,
    media: ["image", "video", "audio", "document"],
  },
  promptHint:
    "You are answering by e-mail. Write a complete e-mail without asking for small confirmations; simple Markdown is shown. To attach a file, put MEDIA:/absolute/path on a line of its own.",
  settings: EMAIL_SETTINGS,
  toolProgress: "off",
  homeVariable: "EMAIL_HOME_ADDRESS",
  enabled: ({ setting }) => {
    const needed = ["EMAIL_ADDRESS", "EMAIL_PASSWORD", "EMAIL_IMAP_HOST", "EMAIL_SMTP_HOST"];
    const missing = needed.filter((name) => !setting(name));
    return missing.length === 0 ? { ok: true } : { ok: false, reason: `${missing.join(", ")} not set` };
  },
  connect,
  prove,
  openSender,
};
