// Decides whether the text of a chat message may have been written by somebody else than its sender.
import type { InboundEvent } from "../../core/chat/platform.ts";
import type { Role } from "../../core/chat/role.ts";

export interface InputTaint {
  /** Where the text came from, as shown to the user; undefined when the sender wrote all of it. */
  readonly origin?: string | undefined;
  /** What the sender typed; empty when that is unknown or the sender is not the user of the session. */
  readonly typed: string;
}

/** `shared`: several users write to the same session. */
export function inputTaint(event: InboundEvent, sender: { readonly role: Role; readonly shared: boolean }): InputTaint {
  const { source } = event;
  if (source.chatKind === "webhook") return { origin: "a webhook delivery", typed: "" };
  if (event.internal) return { origin: "a message of the program", typed: "" };
  if (event.forwarded) return { origin: "a forwarded message", typed: "" };
  if (sender.shared && sender.role !== "owner")
    return { origin: `a message of ${source.userName ?? source.userId ?? "another user"}`, typed: "" };
  // The sender of an e-mail is only proven for owners; a reply also quotes what others wrote.
  if (source.platform === "email") return { origin: "an e-mail", typed: sender.role === "owner" ? event.text : "" };
  const typed = event.text;
  // A voice note is the sender's own speech.
  const file = event.attachments?.find(({ kind }) => kind !== "voice");
  if (file) return { origin: `the file ${file.name ?? file.kind} in a message`, typed };
  if (event.backfill) return { origin: "earlier messages of the channel", typed };
  if (event.replyTo?.text && event.replyTo.fromBot !== true) return { origin: "a quoted message", typed };
  return { typed };
}
