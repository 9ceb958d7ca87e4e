// Watches a mailbox by IDLE and regular checks, and reads it in order from a stored position.
import type { FetchMessageObject, ImapFlow } from "imapflow";
import type { PlatformContext, PlatformHealth } from "../../core/chat/platform.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { EmailSettings } from "./settings.ts";

const COMMAND_MS = 30_000;
const MAX_EMAIL_BYTES = 30 * 1024 * 1024;
const CURSOR = "cursor";
/** After the server renumbers a folder, e-mails of this age are read again; known ones are recognised. */
const LOOK_BACK_MS = 2 * 86_400_000;

interface Cursor {
  readonly validity: string;
  readonly uid: number;
}

export interface MailboxParts {
  readonly settings: EmailSettings;
  readonly context: PlatformContext;
  /** Resolves when the e-mail is stored or can be ignored. */
  take(uid: number, source: Uint8Array): Promise<void>;
}

/** Half-open connections never answer: every command has a time-out. */
export async function inTime<T>(work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the IMAP server did not answer (${what})`)), COMMAND_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

export async function openImap(settings: EmailSettings): Promise<ImapFlow> {
  const { ImapFlow: Client } = await import("imapflow");
  const { imap, user, password } = settings;
  const client = new Client({
    host: imap.host,
    port: imap.port,
    secure: imap.tls,
    ...(imap.tls ? {} : { doSTARTTLS: !imap.plain }),
    auth: { user, pass: password },
    logger: false,
    connectionTimeout: COMMAND_MS,
    greetingTimeout: COMMAND_MS,
    maxIdleTime: 5 * 60_000,
  });
  // An error event without a listener would end the process; the failing command reports the error.
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

export class Mailbox {
  readonly #parts: MailboxParts;
  readonly #client: ImapFlow;
  #provenAt: number;
  #work: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #lost: string | undefined;
  #closed = false;

  constructor(client: ImapFlow, parts: MailboxParts) {
    this.#client = client;
    this.#parts = parts;
    this.#provenAt = parts.context.now();
  }

  /** E-mails from before the first start are ignored. */
  async open(): Promise<void> {
    const { settings, context } = this.#parts;
    const folder = await inTime(this.#client.mailboxOpen(settings.folder), "open");
    const cursor = await this.#cursor();
    const validity = String(folder.uidValidity);
    if (cursor === null) await this.#moveTo({ validity, uid: folder.uidNext - 1 });
    else if (cursor.validity !== validity) {
      context.log("warning", "the mail server renumbered the folder; recent e-mails are checked again");
      const since = new Date(context.now() - LOOK_BACK_MS);
      const recent = await inTime(this.#client.search({ since }, { uid: true }), "search");
      const first = recent && recent.length > 0 ? Math.min(...recent) : folder.uidNext;
      await this.#moveTo({ validity, uid: first - 1 });
    }
    this.#client.on("exists", () => this.look());
    this.#client.on("close", () => this.#reportLost("the IMAP connection was closed"));
    this.#timer = setInterval(() => this.look(), settings.pollMs);
    this.look();
  }

  async #cursor(): Promise<Cursor | null> {
    const text = await this.#parts.context.memory.get(CURSOR);
    return text === null ? null : (JSON.parse(text) as Cursor);
  }

  #moveTo(cursor: Cursor): Promise<void> {
    return this.#parts.context.memory.set(CURSOR, JSON.stringify(cursor));
  }

  #reportLost(reason: string): void {
    if (this.#closed || this.#lost !== undefined) return;
    this.#lost = reason;
    clearInterval(this.#timer);
    this.#parts.context.lost(reason);
  }

  /** Runs checks one after the other; a failed one closes the connection. */
  look(): void {
    this.#work = this.#work.then(async () => {
      if (this.#closed || this.#lost !== undefined) return;
      try {
        await this.#readNew();
        this.#provenAt = this.#parts.context.now();
        // The next command ends IDLE; that is no error.
        this.#client.idle().catch(() => undefined);
      } catch (error) {
        this.#reportLost(errorMessage(error));
      }
    });
  }

  async #readNew(): Promise<void> {
    await inTime(this.#client.noop(), "noop");
    const cursor = await this.#cursor();
    if (cursor === null) return;
    const range = `${cursor.uid + 1}:*`;
    const found = await inTime(this.#client.fetchAll(range, { uid: true, size: true }, { uid: true }), "list");
    // `n:*` includes the last e-mail even when all are older.
    const fresh = found.filter(({ uid }) => uid > cursor.uid).sort((a, b) => a.uid - b.uid);
    for (const { uid, size } of fresh) {
      if (this.#closed) return;
      if ((size ?? 0) > MAX_EMAIL_BYTES) this.#parts.context.log("warning", `an e-mail of ${size} bytes was ignored`);
      else await this.#take(uid);
      await this.#moveTo({ ...cursor, uid });
    }
  }

  async #take(uid: number): Promise<void> {
    const source = await this.source(uid);
    // Removed by another client in between.
    if (source === null) return;
    await this.#parts.take(uid, source);
    await inTime(this.#client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true }), "flag").catch(() => false);
  }

  /** The whole e-mail; null when it no longer exists. */
  async source(uid: number): Promise<Uint8Array | null> {
    const message = (await inTime(this.#client.fetchOne(String(uid), { source: true }, { uid: true }), "fetch")) as
      | FetchMessageObject
      | false;
    return message ? (message.source ?? null) : null;
  }

  health(): PlatformHealth {
    const { settings, context } = this.#parts;
    const quiet = context.now() - this.#provenAt;
    if (this.#lost !== undefined) return { state: "red", provenAt: this.#provenAt, reason: this.#lost };
    if (quiet > 2 * settings.pollMs + COMMAND_MS)
      return { state: "degraded", provenAt: this.#provenAt, reason: "the mailbox was not checked in time" };
    return { state: "ok", provenAt: this.#provenAt };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#client.close();
    await this.#work;
  }
}
