// Files that are sent with a text: `MEDIA:` markers and the two tags that say how to send them.
import type { MediaKind } from "./platform.ts";

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

const MARKER = /[`"']?MEDIA:\s*(?:"([^"\n]+)"|'([^'\n]+)'|`([^`\n]+)`)[`"']?(?=$|[\s)\],.;!?])/gm;

/** A path without quotes may hold spaces: the rest of the line, up to the next marker. */
const BARE_MARKER = /[`"']?MEDIA:[^\S\n]*((?!["'`])(?:(?!MEDIA:)[^\n])+)/g;
const PATH_END = /\.[A-Za-z0-9]{1,5}(?=[`"']?(?:$|[\s)\],.;!?]))/g;

/** The longest start of the line that is a file, with the text after it. */
function takeBarePath(
  line: string,
  resolve: (written: string) => string | null,
): { readonly path: string; readonly rest: string } | undefined {
  const ends = [...line.matchAll(PATH_END)].map((match) => match.index + match[0].length).reverse();
  for (const end of ends) {
    const path = resolve(line.slice(0, end));
    if (path !== null) return { path, rest: line.slice(end).replace(/^[`"']/, "") };
  }
  return undefined;
}

/** How the files of one text are to be sent. */
export interface MediaRequest {
  /** Ogg and Opus as voice notes. */
  readonly voice: boolean;
  /** Everything as a plain file, images uncompressed. */
  readonly document: boolean;
}

function readExtension(path: string): string {
  return /\.([A-Za-z0-9]+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
}

/** True for the kinds of files that a marker may name. */
export function isSendable(path: string): boolean {
  return readExtension(path) in KINDS;
}

export function detectMediaKind(path: string, options: MediaRequest = { voice: false, document: false }): MediaKind {
  const extension = readExtension(path);
  const kind = KINDS[extension] ?? "document";
  if (options.document) return "document";
  return options.voice && ["ogg", "opus"].includes(extension) ? "voice" : kind;
}

/** `resolve` returns the file's path, or null when there is no such file: the marker then stays in the text. */
export function takeMarkers(
  text: string,
  resolve: (written: string) => string | null,
): { readonly text: string; readonly paths: readonly string[]; readonly options: MediaRequest } {
  const options = { voice: text.includes("[[audio_as_voice]]"), document: text.includes("[[as_document]]") };
  const paths: string[] = [];
  const plain = text.replaceAll("[[audio_as_voice]]", "").replaceAll("[[as_document]]", "");
  const add = (path: string) => {
    if (!paths.includes(path)) paths.push(path);
  };
  const quoted = plain.replace(MARKER, (whole: string, ...groups: unknown[]) => {
    const written = groups.slice(0, 3).find((group) => typeof group === "string");
    const path = resolve(String(written ?? ""));
    if (path === null) return whole;
    add(path);
    return "";
  });
  const without = quoted.replace(BARE_MARKER, (whole: string, line: string) => {
    const taken = takeBarePath(line, resolve);
    if (!taken) return whole;
    add(taken.path);
    return taken.rest;
  });
  return { text: without.replace(/\n{3,}/g, "\n\n").trim(), paths, options };
}
