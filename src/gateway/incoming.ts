// From an event to what the model reads: who speaks, what was quoted, which files came along.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Attachment, InboundEvent, Platform, PlatformConnection, Source } from "../core/platform.ts";
import { atomicWrite } from "../lib/atomic-write.ts";

const QUOTED = 500;
const INLINE_BYTES = 100_000;
const INLINE = ["md", "txt", "csv", "log", "json", "xml", "yaml", "yml", "toml", "ini", "cfg"];
const FOLDERS = {
  image: "images",
  sticker: "images",
  video: "videos",
  audio: "audio",
  voice: "audio",
  document: "documents",
};
const EXTENSIONS: { readonly [mime: string]: string } = {
  "image/jpeg": "jpg",
  "image/png": "png",
  "image/webp": "webp",
  "image/gif": "gif",
  "audio/ogg": "ogg",
  "audio/mpeg": "mp3",
  "video/mp4": "mp4",
  "application/pdf": "pdf",
};

function fileName(attachment: Attachment): string {
  const id = randomBytes(6).toString("hex");
  const given = attachment.name?.replaceAll(/[^\w.-]/g, "_").slice(-80);
  const extension = given?.includes(".") ? given.split(".").at(-1) : (EXTENSIONS[attachment.mime ?? ""] ?? "bin");
  if (attachment.kind === "document") return `doc_${id}_${given ?? `file.${extension}`}`;
  const short = { image: "img", sticker: "img", video: "video", audio: "audio", voice: "audio" }[attachment.kind];
  return `${short}_${id}.${extension}`;
}

async function describe(
  attachment: Attachment,
  connection: PlatformConnection | undefined,
  cacheDir: string,
): Promise<string> {
  const what =
    attachment.kind === "voice"
      ? "a voice note"
      : attachment.kind === "document"
        ? "a file"
        : `${/^[aeiou]/.test(attachment.kind) ? "an" : "a"} ${attachment.kind}`;
  if (!connection?.download) return `[The person sent ${what}; it cannot be fetched here.]`;
  try {
    const bytes = await connection.download(attachment, AbortSignal.timeout(120_000));
    const path = join(cacheDir, FOLDERS[attachment.kind], fileName(attachment));
    await atomicWrite(path, bytes, 0o600);
    const extension = path.split(".").at(-1)?.toLowerCase() ?? "";
    const readable = attachment.kind === "document" && INLINE.includes(extension) && bytes.length <= INLINE_BYTES;
    const content = readable ? `\nIts content:\n${new TextDecoder().decode(bytes)}` : "";
    return `[The person sent ${what}${attachment.name ? ` named ${attachment.name}` : ""}, saved as ${path}]${content}`;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `[The person sent ${what}, but it could not be fetched: ${why}]`;
  }
}

export interface IncomingParts {
  readonly connection: PlatformConnection | undefined;
  readonly cacheDir: string;
  /** Several people write in this session. */
  readonly shared: boolean;
}

export async function textForModel(event: InboundEvent, parts: IncomingParts): Promise<string> {
  const pieces: string[] = [];
  if (event.backfill) pieces.push(`[Said in the channel before]\n${event.backfill}\n[New message]`);
  if (event.replyTo?.text) pieces.push(`[Replying to: "${event.replyTo.text.slice(0, QUOTED)}"]`);
  for (const attachment of event.attachments ?? [])
    pieces.push(await describe(attachment, parts.connection, parts.cacheDir));
  const name = event.source.userName ?? event.source.userId ?? "someone";
  if (event.text !== "") pieces.push(parts.shared ? `[${name}] ${event.text}` : event.text);
  else if (parts.shared) pieces.unshift(`[${name}]`);
  return pieces.join("\n\n");
}

/** What the model should know about this place; part of the session's fixed prompt. */
export function instructionsFor(source: Source, platform: Platform, shared: boolean): string {
  const where =
    source.chatKind === "dm"
      ? `a private chat with ${source.userName ?? "one person"}`
      : `the ${source.chatKind} "${source.chatName ?? source.chatId}"${source.threadId ? ", in a thread" : ""}`;
  const who = shared ? "Several people share this session; each message starts with [name]." : "";
  const topic = source.chatTopic ? `Topic: ${source.chatTopic}` : "";
  return [`This conversation takes place on ${platform.label}, in ${where}.`, who, topic, platform.promptHint]
    .filter((line) => line !== "")
    .join("\n");
}
