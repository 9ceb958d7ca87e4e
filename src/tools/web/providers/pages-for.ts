// Puts the pages of a service's answer into the order of the question; what the answer leaves out becomes an error.
import type { WebPage } from "../../../core/web.ts";

/** Services write addresses back with small changes: letter case of the host, a trailing slash, no fragment. */
function bare(url: string): string {
  if (!URL.canParse(url)) return url;
  const { host, pathname, search } = new URL(url);
  return `${host}${pathname.replace(/\/+$/, "")}${search}`;
}

/** One page per asked address, in order. A page without text counts as unread. */
export function pagesFor(urls: readonly string[], pages: readonly WebPage[], service: string): WebPage[] {
  const byUrl = new Map<string, WebPage>();
  for (const page of pages) {
    const known = byUrl.get(bare(page.url));
    if (!known?.ok) byUrl.set(bare(page.url), page);
  }
  return urls.map((url) => {
    const page = byUrl.get(bare(url));
    if (!page) return { ok: false, url, error: `${service} sent nothing for this address` };
    if (page.ok && page.content.trim() === "")
      return { ok: false, url, error: `${service} found no text on this page` };
    return { ...page, url };
  });
}
