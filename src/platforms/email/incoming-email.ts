// Parses an incoming e-mail: sender, text, thread, and whether it may be answered.
import type { Email } from "postal-mime";
import { htmlToText } from "../../lib/html/to-text.ts";
import { describeCalendar } from "./calendar.ts";
import { withoutQuote } from "./email-text.ts";
import type { EmailSettings } from "./settings.ts";

export interface IncomingEmail {
  readonly from: string;
  readonly name: string;
  readonly subject: string;
  /** The sender's text, without quoted e-mails. */
  readonly text: string;
  readonly messageId: string;
  /** Message-IDs of the thread so far, oldest first. */
  readonly references: readonly string[];
  readonly at: number;
  readonly files: readonly EmailAttachment[];
}

export interface EmailAttachment {
  readonly name: string;
  readonly mime: string;
  readonly bytes: Uint8Array;
}

const AUTOMATIC_SENDERS =
  /^(?:no-?reply|do-?not-?reply|mailer-daemon|postmaster|bounces?|notifications?)(?:[+._-].*)?$/i;

function header(email: Email, name: string): string | undefined {
  return email.headers.find(({ key }) => key === name)?.value.trim();
}

function ids(text: string | undefined): string[] {
  return text?.match(/<[^<>\s]+>/g) ?? [];
}

function readBytes(content: ArrayBuffer | Uint8Array | string): Uint8Array {
  if (typeof content === "string") return Buffer.from(content, "utf8");
  return content instanceof Uint8Array ? content : new Uint8Array(content);
}

function isCalendar(mime: string): boolean {
  return mime.toLowerCase() === "text/calendar";
}

export async function parseEmail(
  source: Uint8Array,
): Promise<{ readonly message: IncomingEmail; readonly email: Email }> {
  const { default: PostalMime } = await import("postal-mime");
  const email = await PostalMime.parse(source, { maxNestingDepth: 50 });
  const references = [...new Set([...ids(email.references), ...ids(email.inReplyTo)])];
  const body = email.text?.trim() ? email.text : await htmlToText(email.html ?? "");
  const files = email.attachments
    // Inline pictures, for example of signatures, are not attachments.
    .filter((file) => !(file.related && file.disposition !== "attachment"))
    .map((file, index) => ({
      name: file.filename ?? (isCalendar(file.mimeType) ? "invite.ics" : `attachment-${index + 1}`),
      mime: file.mimeType,
      bytes: readBytes(file.content),
    }));
  const invites = files
    .filter((file) => isCalendar(file.mime))
    .map((file) => describeCalendar(new TextDecoder().decode(file.bytes)));
  const message: IncomingEmail = {
    from: (email.from && "address" in email.from ? (email.from.address ?? "") : "").toLowerCase(),
    name: email.from?.name ?? "",
    subject: (email.subject ?? "").replaceAll(/\s+/g, " ").trim(),
    text: [withoutQuote(body), ...new Set(invites)].filter((part) => part !== "").join("\n\n"),
    messageId: ids(email.messageId)[0] ?? "",
    references,
    at: Date.parse(email.date ?? "") || Date.now(),
    files,
  };
  return { message, email };
}

/** Why this e-mail gets no answer, to avoid loops between programs; undefined when it may be answered. */
export function loopReason(email: Email, message: IncomingEmail, own: string): string | undefined {
  const [local = ""] = message.from.split("@");
  if (message.from === "") return "it has no sender";
  if (message.from === own) return "it is the agent's own";
  if (AUTOMATIC_SENDERS.test(local)) return "its sender accepts no replies";
  const submitted = header(email, "auto-submitted")?.toLowerCase();
  if (submitted !== undefined && submitted !== "no") return "a machine wrote it";
  if (header(email, "x-auto-response-suppress") || header(email, "x-autoreply")) return "a machine wrote it";
  if (/^(?:bulk|junk|list|auto_reply)$/i.test(header(email, "precedence") ?? "")) return "it is bulk mail";
  if (header(email, "list-id")) return "it is from a mailing list";
  if (header(email, "return-path") === "<>") return "it is a delivery report";
  return undefined;
}

/** Compares whole addresses; `@example.org` allows every address of the domain. */
export function isAllowed(from: string, allowed: readonly string[]): boolean {
  const domain = from.slice(from.lastIndexOf("@"));
  return allowed.some((entry) => entry === "*" || entry === from || (entry.startsWith("@") && entry === domain));
}

/** A From header can be forged; the results of the account's mail server say what was verified. */
export function isProven(email: Email, from: string, settings: Pick<EmailSettings, "authserv">): boolean {
  if (settings.authserv === "") return true;
  const verdict = email.headers.find(
    ({ key, value }) =>
      key === "authentication-results" && value.trim().toLowerCase().split(/[\s;]/)[0] === settings.authserv,
  );
  if (!verdict) return false;
  const text = verdict.value.toLowerCase();
  if (/\bdmarc=pass\b/.test(text)) return true;
  const domain = from.slice(from.lastIndexOf("@") + 1);
  return text.split(";").some((part) => /\bdkim=pass\b/.test(part) && part.includes(`header.d=${domain}`));
}
