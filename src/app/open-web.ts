// Opens the web tools: services from the environment, fetches that check the URL policy, a side model for long pages.
import type { SideModel } from "../core/model/provider.ts";
import type { Tool } from "../core/tool/tool.ts";
import type { WebCheck, WebFetch } from "../core/tool/web.ts";
import type { UrlPolicy } from "../security/url-guard.ts";
import { WebBackends } from "../tools/web/backends.ts";
import { webExtractTool } from "../tools/web/web-extract.ts";
import { webProviders } from "../tools/web/web-providers.ts";
import { webSearchTool } from "../tools/web/web-search.ts";
import { WebState } from "../tools/web/web-state.ts";
import { type Services, spillDir } from "./services.ts";

/** Variables with addresses of services, which may be on the local network because the user configured them. */
const SERVICE_URLS = [
  "SEARXNG_URL",
  "FIRECRAWL_API_URL",
  "XAI_BASE_URL",
  "TAVILY_BASE_URL",
  "EXA_BASE_URL",
  "PARALLEL_BASE_URL",
  "BRAVE_SEARCH_BASE_URL",
  "DDGS_BASE_URL",
];

function guardedFetcher(policy: UrlPolicy): WebFetch {
  return async (url, request = {}) => {
    const { guardedFetch } = await import("../security/guarded-fetch.ts");
    return guardedFetch(url, { ...request, policy });
  };
}

/** Fetches pages for tools and `@url` references. */
export function pageFetch(services: Services): WebFetch {
  return guardedFetcher(services.urls);
}

function servicePolicy({ home, urls }: Services): UrlPolicy {
  const allowHosts = SERVICE_URLS.flatMap((name) => {
    const text = home.env[name]?.trim() ?? "";
    if (!URL.canParse(text)) return [];
    const url = new URL(text);
    const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
    return [`${host}:${url.port || (url.protocol === "https:" ? 443 : 80)}`];
  });
  return { allowPrivate: urls.allowPrivate ?? false, allowHosts };
}

function urlChecker(policy: UrlPolicy): WebCheck {
  return async (url) => {
    const { findBlockRule, normalizeHost, resolveUrl } = await import("../security/url-guard.ts");
    const verdict = await resolveUrl(url, policy);
    if (verdict.ok) return { ok: true };
    if (verdict.rule !== "blocklist") return { ok: false, reason: verdict.reason };
    const host = normalizeHost(new URL(url));
    const rule = findBlockRule(host, policy.blocklist ?? []);
    const blocked = { host, rule: rule?.domain ?? "", source: rule?.source ?? "", message: verdict.reason };
    return { ok: false, reason: verdict.reason, blocked };
  };
}

/** The model of the task or the default one; undefined when only the offline model is available. */
async function sideModel({ config, models }: Services): Promise<SideModel | undefined> {
  const found = await models.resolve({});
  if ("failure" in found) return undefined;
  const { provider, base_url: baseUrl } = config.auxiliary.web_extract;
  const named = (provider !== "" && provider !== "auto") || baseUrl !== "";
  if (found.endpoint.transport === "offline" && !named) return undefined;
  const { SideModels } = await import("../providers/side-model.ts");
  return new SideModels(models, found.endpoint);
}

export function openWeb(services: Services): WebState {
  const { config, gate, home, plugins, redactor, scan, urls } = services;
  const { backend, search_backend: searchBackend, extract_backend: extractBackend } = config.web;
  const providers = webProviders({
    env: home.env,
    call: guardedFetcher(servicePolicy(services)),
    fetch: pageFetch(services),
    xaiModel: config.x_search.model,
  });
  const fromPlugin = plugins && {
    names: () => plugins.providerNames("web"),
    find: (name: string) => plugins.webSearchProvider(name),
  };
  return new WebState({
    backends: new WebBackends({ backend, searchBackend, extractBackend }, providers, fromPlugin ?? undefined),
    check: urlChecker(urls),
    gate,
    redactor,
    scan,
    side: () => sideModel(services),
    spillDir: (conversationId) => spillDir(home, conversationId),
  });
}

export function webTools(services: Services): readonly Tool[] {
  const state = openWeb(services);
  return [webSearchTool(state), webExtractTool(state)];
}
