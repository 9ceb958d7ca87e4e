// The address and headers of a model request. The key is sent to one host; nothing comes from the environment.
import type { TransportCall } from "./transport.ts";

/** `path` appended to a base URL that may end with slashes. */
export function joinUrl(baseUrl: string, path: string): string {
  return `${baseUrl.replace(/\/+$/, "")}${path}`;
}

type HeaderMap = { [name: string]: string };

function authHeaders({ endpoint }: TransportCall, defaultStyle: "bearer" | "x-api-key"): HeaderMap {
  const key = endpoint.apiKey;
  if (key === null || key === "") return {};
  const style = endpoint.authStyle ?? defaultStyle;
  return style === "bearer" ? { authorization: `Bearer ${key}` } : { [style]: key };
}

function conversationHeader({ quirks, model, request }: TransportCall): HeaderMap {
  const rule = quirks.conversationHeader;
  const name = model.toLowerCase();
  return rule?.models.some((piece) => name.includes(piece)) ? { [rule.name]: request.conversationId } : {};
}

/** Lower-case names; the headers of the endpoint replace all others. */
export function requestHeaders(
  call: TransportCall,
  defaultStyle: "bearer" | "x-api-key",
  dialectHeaders: HeaderMap = {},
): HeaderMap {
  const all = {
    accept: "application/json",
    "content-type": "application/json",
    "user-agent": "hermes-ts",
    ...dialectHeaders,
    ...authHeaders(call, defaultStyle),
    ...conversationHeader(call),
  };
  const headers: HeaderMap = {};
  for (const [name, value] of [...Object.entries(all), ...Object.entries(call.endpoint.headers)])
    headers[name.toLowerCase()] = value;
  return headers;
}
