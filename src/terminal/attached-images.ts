// The content of a message with images: as they are, or described when the model cannot see.
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import type { Pictures } from "../core/conversation.ts";
import { UserError } from "../core/failure.ts";
import type { ContentPart } from "../core/message.ts";

const MEDIA_TYPES: { readonly [extension: string]: string } = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

export function isImagePath(path: string): boolean {
  return MEDIA_TYPES[extname(path).toLowerCase()] !== undefined;
}

export async function imageUrl(file: string): Promise<string> {
  const type = MEDIA_TYPES[extname(file).toLowerCase()];
  if (!type) throw new UserError(`${file}: images must be png, jpg, gif or webp`, { exitCode: 2 });
  return `data:${type};base64,${(await readFile(file)).toString("base64")}`;
}

/** The message with its images; for a model without vision each image becomes a description. */
export async function withImages(
  text: string,
  images: readonly string[],
  pictures: Pictures,
  signal: AbortSignal,
): Promise<string | ContentPart[]> {
  if (images.length === 0) return text;
  const parts: ContentPart[] = [];
  let described = text;
  for (const file of images) {
    const url = await imageUrl(file);
    if (pictures.native) {
      parts.push({ type: "image_url", image_url: { url } });
      continue;
    }
    const seen = await pictures.describe(url, signal);
    described += `\n\n[image ${file}: ${seen.ok ? seen.text : `not described: ${seen.reason}`}]`;
  }
  return parts.length === 0 ? described : [{ type: "text", text: described }, ...parts];
}
