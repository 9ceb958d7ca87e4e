// A request to a fake web service and the reply to it; the keys that the services accept.
import type { IncomingMessage } from "node:http";

export interface ServiceRequest {
  readonly method: string;
  /** Path without the service's prefix. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface ServiceReply {
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** Text is sent as it is, anything else as JSON. */
  readonly body?: unknown;
  /** Never answers. */
  readonly hang?: boolean;
}

export const KEYS: { readonly [name: string]: string } = {
  BRAVE_SEARCH_API_KEY: "brave-key",
  TAVILY_API_KEY: "tvly-key",
  EXA_API_KEY: "exa-key",
  FIRECRAWL_API_KEY: "fc-key",
  PARALLEL_API_KEY: "parallel-key",
  XAI_API_KEY: "xai-key",
};
