// A letter as the agent needs it: who, what, which thread; and whether it may be answered at all.
import type { Email } from "postal-mime";
import { htmlToText } from "../../lib/html/to-text.ts";
import { withoutQuote } from "./email-text.ts";
import type { EmailSettings } from "./settings.ts";

export interface IncomingEmail {
  readonly from: string;
  readonly name: string;
  readonly subject: string;
  /** The sender's own words, without the quoted letters below. */
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

const ROBOTS = /^(?:no-?reply|do-?not-?reply|mailer-daemon|postmaster|bounces?|notifications?)(?:[+._-].*)?$/i;

function header(email: Email, name: string): string | undefined {
  return email.headers.find(({ key }) => key === name)?.value.trim();
}

function ids(text: string | undefined): string[] {
  return text?.match(/<[^<>\s]+>/g) ?? [];
}

function bytesOf(content: ArrayBuffer | Uint8Array | string): Uint8Array {
  if (typeof content === "string") return Buffer.from(content, "utf8");
  return content instanceof Uint8Array ? content : new Uint8Array(content);
}

export async function parseEmail(
  source: Uint8Array,
): Promise<{ readonly message: IncomingEmail; readonly email: Email }> {
  const { default: PostalMime } = await import("postal-mime");
  const email = await PostalMime.parse(source, { maxNestingDepth: 50 });
  const references = [...new Set([...ids(email.references), ...ids(email.inReplyTo)])];
  const body = email.text?.trim() ? email.text : await htmlToText(email.html ?? "");
  const message: IncomingEmail = {
    from: (email.from && "address" in email.from ? (email.from.address ?? "") : "").toLowerCase(),
    name: email.from?.name ?? "",
    subject: (email.subject ?? "").replaceAll(/\s+/g, " ").trim(),
    text: withoutQuote(body),
    messageId: ids(email.messageId)[0] ?? "",
    references,
    at: Date.parse(email.date ?? "") || Date.now(),
    files: email.attachments
      // Pictures of signatures and the like belong to the letter's looks.
      .filter((file) => !(file.related && file.disposition !== "attachment"))
      .map((file, index) => ({
        name: file.filename ?? `attachment-${index + 1}`,
        mime: file.mimeType,
        bytes: bytesOf(file.content),
      })),
  };
  return { message, email };
}

/** Machines that answer machines never stop: why this letter gets no answer; undefined when it may have one. */
export function loopReason(email: Email, message: IncomingEmail, own: string): string | undefined {
  const [local = ""] = message.from.split("@");
  if (message.from === "") return "it has no sender";
  if (message.from === own) return "it is our own";
  if (ROBOTS.test(local)) return "its sender takes no answers";
  const submitted = header(email, "auto-submitted")?.toLowerCase();
  if (submitted !== undefined && submitted !== "no") return "a machine wrote it";
  if (header(email, "x-auto-response-suppress") || header(email, "x-autoreply")) return "a machine wrote it";
  if (/^(?:bulk|junk|list|auto_reply)$/i.test(header(email, "precedence") ?? "")) return "it is bulk mail";
  if (header(email, "list-id")) return "it comes from a mailing list";
  if (header(email, "return-path") === "<>") return "it is a notice about delivery";
  return undefined;
}

/** Addresses are compared whole; `@example.org` allows everybody there. */
export function isAllowed(from: string, allowed: readonly string[]): boolean {
  const domain = from.slice(from.lastIndexOf("@"));
  return allowed.some((entry) => entry === "*" || entry === from || (entry.startsWith("@") && entry === domain));
}

/** A From line can be forged; the own mail server says what it could prove. */
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
