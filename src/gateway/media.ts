// Files that leave with an answer: `MEDIA:` markers become attachments, the markers leave the text.
import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, extname, isAbsolute, join } from "node:path";
import type { MediaKind } from "../core/platform.ts";

const KINDS: { readonly [extension: string]: MediaKind } = {
  ...Object.fromEntries(["png", "jpg", "jpeg", "gif", "webp"].map((name) => [name, "image" as const])),
  ...Object.fromEntries(["mp4", "mov", "avi", "mkv", "webm"].map((name) => [name, "video" as const])),
  ...Object.fromEntries(["ogg", "opus", "mp3", "wav", "m4a", "flac"].map((name) => [name, "audio" as const])),
  ...Object.fromEntries(
    ["epub", "pdf", "zip", "rar", "7z", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "txt", "csv", "apk", "ipa"].map(
      (name) => [name, "document" as const],
    ),
  ),
};

const MARKER =
  /[`"']?MEDIA:\s*(?:"([^"\n]+)"|'([^'\n]+)'|`([^`\n]+)`|(\S+?\.[A-Za-z0-9]{1,5}))[`"']?(?=$|[\s)\],.;!?])/gm;

export function mediaKindOf(extension: string): MediaKind {
  return KINDS[extension] ?? "document";
}

export interface OutgoingFile {
  readonly kind: MediaKind;
  readonly path: string;
  readonly name: string;
}

export interface ExtractedMedia {
  readonly text: string;
  readonly files: readonly OutgoingFile[];
}

function fileAt(written: string, options: { voice: boolean; document: boolean }): OutgoingFile | null {
  const path = written.startsWith("~/") ? join(homedir(), written.slice(2)) : written;
  const extension = extname(path).slice(1).toLowerCase();
  const kind = KINDS[extension];
  if (!kind || !isAbsolute(path) || !existsSync(path) || !statSync(path).isFile()) return null;
  if (options.document) return { kind: "document", path, name: basename(path) };
  const voice = options.voice && kind === "audio" && ["ogg", "opus"].includes(extension);
  return { kind: voice ? "voice" : kind, path, name: basename(path) };
}

/** A marker whose file does not exist stays in the text, so that the reader sees what was meant. */
export function extractMedia(text: string): ExtractedMedia {
  const options = { voice: text.includes("[[audio_as_voice]]"), document: text.includes("[[as_document]]") };
  const files: OutgoingFile[] = [];
  const plain = text.replaceAll("[[audio_as_voice]]", "").replaceAll("[[as_document]]", "");
  const without = plain.replace(MARKER, (whole: string, ...groups: unknown[]) => {
    const written = groups.slice(0, 4).find((group) => typeof group === "string");
    const file = fileAt(String(written ?? ""), options);
    if (!file) return whole;
    if (!files.some((known) => known.path === file.path)) files.push(file);
    return "";
  });
  return { text: without.replace(/\n{3,}/g, "\n\n").trim(), files };
}

/** What is shown while text still arrives: markers and what may become one are held back. */
export function withoutMarkers(text: string): string {
  return text
    .replace(/\[\[(audio_as_voice|as_document)\]\]/g, "")
    .replace(/[`"']?MEDIA:\s*\S*/g, "")
    .trimEnd();
}
