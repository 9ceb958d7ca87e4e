// Files that users send: stored in the cache, read or transcribed, and described to the model.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Attachment, PlatformConnection } from "../../core/chat/platform.ts";
import type { Pictures } from "../../core/conversation.ts";
import { underSignals } from "../../lib/async/joined-signal.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { errorMessage } from "../../lib/error-message.ts";

const CONNECT_MS = 60_000;
const DOWNLOAD_MS = 120_000;
const INLINE_BYTES = 100_000;
const INLINE = ["md", "txt", "csv", "log", "json", "xml", "yaml", "yml", "toml", "ini", "cfg"];
/** Some services refuse larger pictures. */
const PICTURE_BYTES = 4_500_000;
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

export interface AttachmentParts {
  /** Undefined while the platform is not connected. */
  connection(): PlatformConnection | undefined;
  readonly cacheDir: string;
  readonly pictures: Pictures;
  /** The text of a recording; `unset` when no transcription is set up. */
  transcribe(
    path: string,
  ): Promise<
    | { readonly ok: true; readonly text: string }
    | { readonly ok: false; readonly reason: string; readonly unset?: boolean | undefined }
  >;
  readonly signal: AbortSignal;
}

export interface ReadAttachment {
  /** Text for the model. */
  readonly text: string;
  /** A `data:` URL, sent to the model as a picture. */
  readonly picture?: string | undefined;
  /** Texts for the user. */
  readonly notice?: string | undefined;
}

function fileName(attachment: Attachment): string {
  const id = randomBytes(6).toString("hex");
  const given = attachment.name?.replaceAll(/[^\w.-]/g, "_").slice(-80);
  const extension = given?.includes(".") ? given.split(".").at(-1) : (EXTENSIONS[attachment.mime ?? ""] ?? "bin");
  if (attachment.kind === "document") return `doc_${id}_${given ?? `file.${extension}`}`;
  const short = { image: "img", sticker: "img", video: "video", audio: "audio", voice: "audio" }[attachment.kind];
  return `${short}_${id}.${extension}`;
}

function displayName(attachment: Attachment): string {
  if (attachment.kind === "voice") return "a voice note";
  if (attachment.kind === "document") return "a file";
  return `${/^[aeiou]/.test(attachment.kind) ? "an" : "a"} ${attachment.kind}`;
}

/** The type by the first bytes: platforms sometimes report a wrong type. */
export function pictureType(bytes: Uint8Array): string | null {
  const starts = (...expected: number[]) => expected.every((value, index) => bytes[index] === value);
  if (starts(0x89, 0x50, 0x4e, 0x47)) return "image/png";
  if (starts(0xff, 0xd8, 0xff)) return "image/jpeg";
  if (starts(0x47, 0x49, 0x46, 0x38)) return "image/gif";
  const riff = starts(0x52, 0x49, 0x46, 0x46);
  return riff && new TextDecoder("latin1").decode(bytes.subarray(8, 12)) === "WEBP" ? "image/webp" : null;
}

async function readPicture(bytes: Uint8Array, saved: string, parts: AttachmentParts): Promise<ReadAttachment> {
  const type = pictureType(bytes);
  if (type === null || bytes.length > PICTURE_BYTES) return { text: saved };
  const url = `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
  if (parts.pictures.native) return { text: saved, picture: url };
  const seen = await parts.pictures.describe(url, parts.signal);
  if (seen.ok) return { text: `${saved}\nDescription by a vision model:\n${seen.text}` };
  return {
    text: `${saved}\n[It could not be analysed: ${seen.reason}. Say so instead of guessing what it shows.]`,
  };
}

async function readRecording(
  attachment: Attachment,
  path: string,
  saved: string,
  parts: AttachmentParts,
): Promise<ReadAttachment> {
  const transcript = await parts.transcribe(path);
  if (transcript.ok) {
    const words = transcript.text === "" ? "(nothing was said)" : transcript.text;
    return { text: `[The user sent ${displayName(attachment)}, saved as ${path}. Transcript:]\n${words}` };
  }
  const text = `${saved}\n[It was not transcribed: ${transcript.reason}. You do not know what was said; tell the user.]`;
  const notice = transcript.unset
    ? `🎤 Recordings cannot be transcribed here: ${transcript.reason}.`
    : `🎤 The recording could not be transcribed: ${transcript.reason}`;
  return { text, notice };
}

/** Waits for the connection after a start or while the platform reconnects. */
async function connected({ connection, signal }: AttachmentParts): Promise<PlatformConnection | undefined> {
  const deadline = Date.now() + CONNECT_MS;
  while (!connection() && !signal.aborted && Date.now() < deadline)
    await sleep(50, undefined, { signal }).catch(() => undefined);
  return connection();
}

export async function readAttachment(attachment: Attachment, parts: AttachmentParts): Promise<ReadAttachment> {
  const what = displayName(attachment);
  const { cacheDir } = parts;
  const connection = await connected(parts);
  const download = connection?.download?.bind(connection);
  if (!download) return { text: `[The user sent ${what}; it cannot be fetched here.]` };
  try {
    const bytes = await underSignals([parts.signal], DOWNLOAD_MS, (signal) => download(attachment, signal));
    const path = join(cacheDir, FOLDERS[attachment.kind], fileName(attachment));
    await atomicWrite(path, bytes, 0o600);
    const saved = `[The user sent ${what}${attachment.name ? ` named ${attachment.name}` : ""}, saved as ${path}]`;
    if (attachment.kind === "image" || attachment.kind === "sticker") return await readPicture(bytes, saved, parts);
    if (attachment.kind === "voice" || attachment.kind === "audio")
      return await readRecording(attachment, path, saved, parts);
    const extension = path.split(".").at(-1)?.toLowerCase() ?? "";
    const readable = attachment.kind === "document" && INLINE.includes(extension) && bytes.length <= INLINE_BYTES;
    return { text: readable ? `${saved}\nIts content:\n${new TextDecoder().decode(bytes)}` : saved };
  } catch (error) {
    const why = errorMessage(error);
    return { text: `[The user sent ${what}, but it could not be fetched: ${why}]` };
  }
}
