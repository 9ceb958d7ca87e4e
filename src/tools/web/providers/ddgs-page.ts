// Reads a result page of DuckDuckGo: hits, the form for the next page, or a captcha.
import type { WebHit } from "../../../core/tool/web.ts";
import { parseHtml } from "../../../lib/html/parse.ts";
import { descendants, type HtmlElement, hasClass, plainText } from "../../../lib/html/tree.ts";
import { fail, type HitPage, type ServiceResult } from "../service-call.ts";

/** Results link to a redirect that contains the target address. */
function targetAddress(href: string): string {
  if (!URL.canParse(href, "https://duckduckgo.com")) return "";
  const url = new URL(href, "https://duckduckgo.com");
  return url.searchParams.get("uddg") ?? url.href;
}

function readHit(box: HtmlElement): WebHit | null {
  let link: HtmlElement | undefined;
  let snippet: HtmlElement | undefined;
  for (const node of descendants(box)) {
    if (node.name === "a" && hasClass(node, "result__a")) link ??= node;
    if (hasClass(node, "result__snippet")) snippet ??= node;
  }
  if (!link) return null;
  return {
    title: plainText(link),
    url: targetAddress(link.attributes.get("href") ?? ""),
    description: snippet ? plainText(snippet) : "",
  };
}

/** The hidden fields of the form behind the "Next" button. */
function nextForm(root: HtmlElement): URLSearchParams | null {
  for (const node of descendants(root)) {
    if (!hasClass(node, "nav-link")) continue;
    const inputs = [...descendants(node)].filter((field) => field.name === "input");
    if (!inputs.some((field) => field.attributes.get("value") === "Next")) continue;
    const form = new URLSearchParams();
    for (const field of inputs) {
      const name = field.attributes.get("name");
      if (name && field.attributes.get("type") === "hidden") form.set(name, field.attributes.get("value") ?? "");
    }
    return form;
  }
  return null;
}

interface ResultPage extends HitPage {
  readonly next: URLSearchParams | null;
}

export async function readResults(html: string): Promise<ServiceResult<ResultPage>> {
  const root = await parseHtml(html);
  const hits: WebHit[] = [];
  let sawResults = false;
  for (const node of descendants(root)) {
    if (/\banomaly/.test(node.attributes.get("class") ?? ""))
      return fail("rate_limit", "DuckDuckGo asks to solve a captcha.", {
        provider: "DuckDuckGo",
        hint: "Wait a while, or set up another search backend (web.search_backend).",
      });
    sawResults ||= hasClass(node, "results") || hasClass(node, "no-results") || node.attributes.get("id") === "links";
    if (!hasClass(node, "result") || hasClass(node, "result--ad")) continue;
    const hit = readHit(node);
    if (hit) hits.push(hit);
  }
  if (!sawResults && hits.length === 0)
    return fail("format_error", "DuckDuckGo sent a page without a list of results.", { provider: "DuckDuckGo" });
  const next = nextForm(root);
  return { ok: true, value: { hits, next, more: next !== null } };
}
