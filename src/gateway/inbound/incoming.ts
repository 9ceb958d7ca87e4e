// Builds the model's input from an event: sender, quote, text and files.

import type { InboundEvent, Platform, Source } from "../../core/chat/platform.ts";
import type { ContentPart } from "../../core/message.ts";
import { type AttachmentParts, readAttachment } from "./attachments.ts";

const QUOTED = 500;

export interface IncomingParts extends AttachmentParts {
  /** Several users share this session. */
  readonly shared: boolean;
}

export interface Incoming {
  readonly text: string;
  /** Pictures as `data:` URLs. */
  readonly pictures: readonly string[];
  /** Texts for the user about the files. */
  readonly notices: readonly string[];
}

export async function readIncoming(event: InboundEvent, parts: IncomingParts): Promise<Incoming> {
  const pieces: string[] = [];
  const pictures: string[] = [];
  const notices: string[] = [];
  if (event.backfill) pieces.push(`[Earlier messages in the channel]\n${event.backfill}\n[New message]`);
  if (event.replyTo?.text) pieces.push(`[Replying to: "${event.replyTo.text.slice(0, QUOTED)}"]`);
  for (const attachment of event.attachments ?? []) {
    const { text, picture, notice } = await readAttachment(attachment, parts);
    pieces.push(text);
    if (picture) pictures.push(picture);
    if (notice && !notices.includes(notice)) notices.push(notice);
  }
  const name = event.source.userName ?? event.source.userId ?? "someone";
  const named = parts.shared && !event.internal;
  if (event.text !== "") pieces.push(named ? `[${name}] ${event.text}` : event.text);
  else if (named) pieces.unshift(`[${name}]`);
  return { text: pieces.join("\n\n"), pictures, notices };
}

/** A plain string when there are no pictures. */
export function buildContent(text: string, pictures: readonly string[]): string | readonly ContentPart[] {
  if (pictures.length === 0) return text;
  return [{ type: "text", text }, ...pictures.map((url) => ({ type: "image_url" as const, image_url: { url } }))];
}

/** What the model should know about this chat; part of the session's fixed prompt. */
export function instructionsFor(source: Source, platform: Platform, shared: boolean): string {
  const where =
    source.chatKind === "dm"
      ? `a private chat with ${source.userName ?? "one person"}`
      : `the ${source.chatKind} "${source.chatName ?? source.chatId}"${source.threadId ? ", in a thread" : ""}`;
  const who = shared ? "Several users share this session; each message starts with [name]." : "";
  const topic = source.chatTopic ? `Topic: ${source.chatTopic}` : "";
  return [`This conversation takes place on ${platform.label}, in ${where}.`, who, topic, platform.promptHint]
    .filter((line) => line !== "")
    .join("\n");
}
