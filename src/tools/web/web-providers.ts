// The web services that come with the program.
import type { WebFetch, WebProvider } from "../../core/tool/web.ts";
import { localReader } from "./local-reader.ts";
import { braveFree } from "./providers/brave-free.ts";
import { ddgs } from "./providers/ddgs.ts";
import { exa } from "./providers/exa.ts";
import { firecrawl } from "./providers/firecrawl.ts";
import { parallel } from "./providers/parallel.ts";
import { searxng } from "./providers/searxng.ts";
import { tavily } from "./providers/tavily.ts";
import { xai } from "./providers/xai.ts";
import type { ServiceParts } from "./service-call.ts";

export interface WebProviderParts extends ServiceParts {
  /** For pages; refuses private addresses and the website blocklist. */
  readonly fetch: WebFetch;
  /** The model that searches for `xai`. */
  readonly xaiModel: string;
}

export function webProviders(parts: WebProviderParts): WebProvider[] {
  return [
    firecrawl(parts),
    parallel(parts),
    tavily(parts),
    exa(parts),
    searxng(parts),
    braveFree(parts),
    ddgs(parts),
    xai({ ...parts, model: parts.xaiModel }),
    localReader(parts),
  ];
}
