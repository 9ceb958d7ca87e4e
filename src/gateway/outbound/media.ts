// Files of an answer: `MEDIA:` markers are removed from the text and become attachments.
import { basename } from "node:path";
import { detectMediaKind, takeMarkers } from "../../core/chat/outgoing-media.ts";
import type { MediaKind } from "../../core/chat/platform.ts";
import { sendableFile } from "../../delivery/api/sendable-file.ts";

export interface OutgoingFile {
  readonly kind: MediaKind;
  readonly path: string;
  readonly name: string;
}

export interface ExtractedMedia {
  readonly text: string;
  readonly files: readonly OutgoingFile[];
}

/** A marker whose file does not exist stays in the text. */
export function extractMedia(text: string): ExtractedMedia {
  const { text: words, paths, options } = takeMarkers(text, sendableFile);
  return {
    text: words,
    files: paths.map((path) => ({ kind: detectMediaKind(path, options), path, name: basename(path) })),
  };
}

/** Replaces markers of protected files by a note. */
export async function withoutProtected(text: string, isProtected: (path: string) => Promise<boolean>): Promise<string> {
  if (!text.includes("MEDIA:")) return text;
  const protectedPaths = new Set<string>();
  for (const { path } of extractMedia(text).files) if (await isProtected(path)) protectedPaths.add(path);
  if (protectedPaths.size === 0) return text;
  const without = takeMarkers(text, (written) => {
    const path = sendableFile(written);
    return path !== null && protectedPaths.has(path) ? path : null;
  });
  return `${without.text}\n\n[A protected file was not sent.]`;
}

/** The displayed part of a partial answer: without markers and without the start of one at the end. */
export function withoutMarkers(text: string): string {
  return text
    .replace(/\[\[(audio_as_voice|as_document)\]\]/g, "")
    .replace(/[`"']?MEDIA:\s*\S*/g, "")
    .trimEnd();
}
