// Responses of each web service in its format; bad keys and bad requests get the error format of the service.
import { KEYS, type ServiceReply, type ServiceRequest } from "./fake-web-request.ts";

type Body = { readonly [key: string]: unknown };

const ALL = Array.from({ length: 45 }, (_, index) => ({
  url: `https://example.org/${index + 1}`,
  title: `Result ${index + 1}`,
  text: `Words about result ${index + 1}`,
}));

function parseBody(request: ServiceRequest): Body {
  if (!request.headers["content-type"]?.includes("application/json")) return {};
  return JSON.parse(request.body) as Body;
}

function bearer(request: ServiceRequest, key: string): boolean {
  return request.headers.authorization === `Bearer ${KEYS[key]}`;
}

function searxng({ method, path, query }: ServiceRequest): ServiceReply {
  if (method !== "GET" || path !== "/search" || !query.get("q")) return { status: 400, body: "bad request" };
  if (query.get("format") !== "json") return { body: "<html>results</html>" };
  const page = Number(query.get("pageno") ?? 1) - 1;
  const results = ALL.slice(page * 20, page * 20 + 20).map((hit) => ({
    url: hit.url,
    title: hit.title,
    content: hit.text,
    engine: "example",
    engines: ["example"],
    score: 1,
    category: "general",
  }));
  return {
    body: {
      query: query.get("q"),
      number_of_results: 0,
      results,
      answers: [],
      suggestions: [],
      infoboxes: [],
      unresponsive_engines: [],
    },
  };
}

function brave({ path, query, headers }: ServiceRequest): ServiceReply {
  if (path !== "/res/v1/web/search") return { status: 404, body: {} };
  if (headers["x-subscription-token"] !== KEYS.BRAVE_SEARCH_API_KEY)
    return {
      status: 422,
      body: {
        type: "ErrorResponse",
        error: {
          code: "SUBSCRIPTION_TOKEN_INVALID",
          detail: "The provided subscription token is invalid.",
          status: 422,
        },
      },
    };
  const count = Number(query.get("count"));
  const offset = Number(query.get("offset") ?? 0);
  if (!(count >= 1 && count <= 20) || offset > 9)
    return { status: 422, body: { error: { detail: "count out of range" } } };
  const results = ALL.slice(offset * count, offset * count + count).map((hit) => ({
    type: "search_result",
    title: hit.title,
    url: hit.url,
    description: hit.text,
    is_source_local: false,
  }));
  const more = (offset + 1) * count < ALL.length;
  return {
    body: {
      type: "search",
      query: { original: query.get("q"), more_results_available: more },
      web: { type: "search", results },
    },
  };
}

function tavily(request: ServiceRequest): ServiceReply {
  if (!bearer(request, "TAVILY_API_KEY"))
    return { status: 401, body: { detail: { error: "Unauthorized: missing or invalid API key." } } };
  const body = parseBody(request);
  if (request.path === "/search") {
    const max = Number(body.max_results);
    if (!(max >= 0 && max <= 20)) return { status: 400, body: { detail: { error: "Invalid max_results" } } };
    const results = ALL.slice(0, max).map((hit) => ({
      title: hit.title,
      url: hit.url,
      content: hit.text,
      score: 0.9,
      raw_content: null,
    }));
    return { body: { query: body.query, answer: null, images: [], results, response_time: 0.1 } };
  }
  const urls = body.urls as string[];
  return {
    body: {
      results: urls
        .filter((url) => !url.includes("broken"))
        .map((url) => ({ url, raw_content: `# Page\n\nText of ${url}`, images: [] })),
      failed_results: urls
        .filter((url) => url.includes("broken"))
        .map((url) => ({ url, error: "Failed to fetch url" })),
      response_time: 0.1,
    },
  };
}

function exa(request: ServiceRequest): ServiceReply {
  if (request.headers["x-api-key"] !== KEYS.EXA_API_KEY)
    return { status: 401, body: { requestId: "r", error: "Invalid API key", tag: "INVALID_API_KEY" } };
  const body = parseBody(request);
  if (request.path === "/search") {
    if ("text" in body || "highlights" in body)
      return { status: 400, body: { error: "contents options belong into contents" } };
    const results = ALL.slice(0, Number(body.numResults)).map((hit) => ({
      id: hit.url,
      title: hit.title,
      url: hit.url,
      highlights: [hit.text],
      highlightScores: [0.5],
    }));
    return { body: { requestId: "r", results, costDollars: { total: 0.005 } } };
  }
  const urls = body.urls as string[];
  const good = urls.filter((url) => !url.includes("broken"));
  return {
    body: {
      requestId: "r",
      results: good.map((url) => ({ id: url, url, title: "Page", text: `Text of ${url}` })),
      statuses: urls.map((id) =>
        good.includes(id)
          ? { id, status: "success", source: "crawled" }
          : { id, status: "error", error: { tag: "CRAWL_NOT_FOUND", httpStatusCode: 404 } },
      ),
    },
  };
}

function firecrawl(request: ServiceRequest): ServiceReply {
  if (!bearer(request, "FIRECRAWL_API_KEY"))
    return { status: 401, body: { success: false, error: "Unauthorized: Invalid token" } };
  const body = parseBody(request);
  if (request.path === "/v2/search") {
    const web = ALL.slice(0, Number(body.limit)).map((hit, index) => ({
      url: hit.url,
      title: hit.title,
      description: hit.text,
      position: index + 1,
    }));
    return { body: { success: true, data: { web }, creditsUsed: 2 } };
  }
  const url = String(body.url);
  if (url.includes("broken")) return { status: 500, body: { success: false, error: "The page could not be loaded" } };
  const statusCode = url.includes("missing") ? 404 : 200;
  const metadata = { title: "Page", sourceURL: url, url, statusCode };
  return { body: { success: true, data: { markdown: `# Page\n\nText of ${url}`, metadata } } };
}

function parallel(request: ServiceRequest): ServiceReply {
  if (request.headers["x-api-key"] !== KEYS.PARALLEL_API_KEY)
    return { status: 401, body: { type: "error", error: { ref_id: "r", message: "Unauthorized" } } };
  const body = parseBody(request);
  const advanced = (body.advanced_settings ?? {}) as Body;
  if (request.path === "/v1/search") {
    if (!Array.isArray(body.search_queries))
      return { status: 422, body: { type: "error", error: { message: "search_queries is required" } } };
    const results = ALL.slice(0, Number(advanced.max_results)).map((hit) => ({
      url: hit.url,
      title: hit.title,
      publish_date: null,
      excerpts: [hit.text],
    }));
    return { body: { search_id: "s", results, warnings: null } };
  }
  const urls = body.urls as string[];
  return {
    body: {
      extract_id: "e",
      results: urls
        .filter((url) => !url.includes("broken"))
        .map((url) => ({
          url,
          title: "Page",
          excerpts: ["Part"],
          full_content: advanced.full_content ? `Text of ${url}` : null,
        })),
      errors: urls
        .filter((url) => url.includes("broken"))
        .map((url) => ({ url, error_type: "fetch_error", http_status_code: 500, content: "" })),
    },
  };
}

function ddgs(request: ServiceRequest): ServiceReply {
  const form = new URLSearchParams(request.body);
  if (request.method !== "POST" || request.path !== "/html/" || !form.get("q")) return { status: 400, body: "no" };
  const start = Number(form.get("s") ?? 0);
  const hits = ALL.slice(start, start + 10).map(
    (hit) => `<div class="result results_links results_links_deep web-result ">
<div class="links_main links_deep result__body"><h2 class="result__title">
<a rel="nofollow" class="result__a" href="//duckduckgo.com/l/?uddg=${encodeURIComponent(hit.url)}&amp;rut=abc"><b>Result</b> ${hit.title.slice(7)}</a></h2>
<a class="result__snippet" href="//duckduckgo.com/l/?uddg=x">Words about <b>result</b> ${hit.title.slice(7)}</a></div></div>`,
  );
  const next = `<div class="nav-link"><form action="/html/" method="post"><input type="submit" class='btn btn--alt' value="Next" />
<input type="hidden" name="q" value="${form.get("q")}"><input type="hidden" name="s" value="${start + 10}"><input type="hidden" name="vqd" value="4-1"></form></div>`;
  const ad = `<div class="result results_links result--ad"><a class="result__a" href="https://ads.example/">Buy</a></div>`;
  return {
    body: `<!DOCTYPE html><html><body><div id="links" class="results">${ad}${hits.join("\n")}${start + 10 < ALL.length ? next : ""}</div></body></html>`,
  };
}

function xai(request: ServiceRequest): ServiceReply {
  if (!bearer(request, "XAI_API_KEY"))
    return { status: 401, body: { code: "unauthenticated", error: "Incorrect API key provided." } };
  const body = parseBody(request);
  const tools = body.tools as Body[] | undefined;
  if (request.path !== "/responses" || tools?.[0]?.type !== "web_search" || !body.model)
    return { status: 422, body: { error: "bad request" } };
  const list = ALL.slice(0, 7).map((hit) => ({ title: hit.title, url: hit.url, description: hit.text }));
  const content = [{ type: "output_text", text: `\`\`\`json\n${JSON.stringify(list)}\n\`\`\``, annotations: [] }];
  return {
    body: {
      id: "resp_1",
      object: "response",
      status: "completed",
      output: [
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } },
        { type: "message", role: "assistant", status: "completed", content },
      ],
      citations: list.map((hit) => hit.url),
    },
  };
}

const SERVICES: { readonly [name: string]: (request: ServiceRequest) => ServiceReply } = {
  searxng,
  brave,
  tavily,
  exa,
  firecrawl,
  parallel,
  ddgs,
  xai,
};

export function answerFor(service: string, request: ServiceRequest): ServiceReply {
  return SERVICES[service]?.(request) ?? { status: 404, body: { error: "no such service" } };
}
