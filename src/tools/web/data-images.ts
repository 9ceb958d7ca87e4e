// Removes images that are embedded in text as data URLs.

const MARKDOWN_IMAGE = /!\[([^\]\n]{0,300})\]\(\s*data:image\/[^)\s]*\s*\)/gi;
const BARE = /data:image\/[\w.+-]{1,40}(?:;[\w=.+-]{1,40}){0,4};base64,[A-Za-z0-9+/=_-]*/gi;

/** Replaces inline images by a placeholder. */
export function withoutDataImages(text: string): string {
  if (!/data:image\//i.test(text)) return text;
  return text
    .replace(MARKDOWN_IMAGE, (_, alt: string) => (alt.trim() ? `[image: ${alt.trim()}]` : "[image]"))
    .replace(BARE, "[image data removed]");
}
