// Orders the pages of a response by the requested addresses; missing ones become errors.
import type { WebPage } from "../../../core/tool/web.ts";

/** For comparison: services return addresses with another host case, without a trailing slash or fragment. */
function normalizeUrl(url: string): string {
  if (!URL.canParse(url)) return url;
  const { host, pathname, search } = new URL(url);
  return `${host}${pathname.replace(/\/+$/, "")}${search}`;
}

/** One page per requested address, in order. A page without text is an error. */
export function pagesFor(urls: readonly string[], pages: readonly WebPage[], service: string): WebPage[] {
  const byUrl = new Map<string, WebPage>();
  for (const page of pages) {
    const known = byUrl.get(normalizeUrl(page.url));
    if (!known?.ok) byUrl.set(normalizeUrl(page.url), page);
  }
  return urls.map((url) => {
    const page = byUrl.get(normalizeUrl(url));
    if (!page) return { ok: false, url, error: `${service} sent nothing for this address` };
    if (page.ok && page.content.trim() === "")
      return { ok: false, url, error: `${service} found no text on this page` };
    return { ...page, url };
  });
}
