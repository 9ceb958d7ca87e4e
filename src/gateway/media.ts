// Files that leave with an answer: `MEDIA:` markers become attachments, the markers leave the text.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, isAbsolute, join } from "node:path";
import { isSendable, mediaKindOf, takeMarkers } from "../core/outgoing-media.ts";
import type { MediaKind } from "../core/platform.ts";

export interface OutgoingFile {
  readonly kind: MediaKind;
  readonly path: string;
  readonly name: string;
}

export interface ExtractedMedia {
  readonly text: string;
  readonly files: readonly OutgoingFile[];
}

function fileAt(written: string): string | null {
  const path = written.startsWith("~/") ? join(homedir(), written.slice(2)) : written;
  const there = isSendable(path) && isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isFile();
  return there ? path : null;
}

/** A marker whose file does not exist stays in the text, so that the reader sees what was meant. */
export function extractMedia(text: string): ExtractedMedia {
  const { text: words, paths, wish } = takeMarkers(text, fileAt);
  return { text: words, files: paths.map((path) => ({ kind: mediaKindOf(path, wish), path, name: basename(path) })) };
}

/** What is shown while text still arrives: markers and what may become one are held back. */
export function withoutMarkers(text: string): string {
  return text
    .replace(/\[\[(audio_as_voice|as_document)\]\]/g, "")
    .replace(/[`"']?MEDIA:\s*\S*/g, "")
    .trimEnd();
}
