// Finds out whether an e-mail was sent: many servers store a copy, which is found by its Message-ID.
import type { ImapFlow, ListResponse } from "imapflow";
import { inTime, openImap } from "./mailbox.ts";
import type { EmailSettings } from "./settings.ts";

const SENT_NAMES = /^(?:sent|sent items|sent messages|sent mail|gesendet|gesendete objekte|envoyés|enviados)$/i;

async function contains(client: ImapFlow, header: { readonly [name: string]: string }): Promise<boolean> {
  const found = await inTime(client.search({ header: { ...header } }, { uid: true }), "search");
  return Array.isArray(found) && found.length > 0;
}

function sentFolder(folders: readonly ListResponse[]): string | undefined {
  return (
    folders.find((folder) => folder.specialUse === "\\Sent") ?? folders.find((folder) => SENT_NAMES.test(folder.name))
  )?.path;
}

/**
 * `absent` only when the server stores copies of this program's e-mails; otherwise a missing copy means nothing.
 * Rejects when the server cannot be reached.
 */
export async function findSentEmail(
  settings: EmailSettings,
  messageId: string,
): Promise<"there" | "absent" | "unknown"> {
  const client = await openImap(settings);
  try {
    const folder = sentFolder(await inTime(client.list(), "list"));
    if (folder === undefined) return "unknown";
    await inTime(client.mailboxOpen(folder, { readOnly: true }), "open");
    if (await contains(client, { "message-id": messageId })) return "there";
    // Only e-mails of this program have this header.
    return (await contains(client, { "auto-submitted": "auto-" })) ? "absent" : "unknown";
  } finally {
    client.close();
  }
}
