// Decides which key may be sent to which address. A key belongs to one scheme, host and port.
import type { ProviderSpec } from "../provider-spec.ts";

/** The host name in lower case, without port; undefined if the text is not an http(s) URL. */
export function parseHost(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") return undefined;
  return parsed.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}

/** Scheme, host and port; undefined if the text is not an http(s) URL. */
export function parseOrigin(url: string): string | undefined {
  const host = parseHost(url);
  if (host === undefined) return undefined;
  const { protocol, port } = new URL(url);
  return `${protocol}//${host}:${port || (protocol === "https:" ? "443" : "80")}`;
}

/** True when both addresses have the same scheme, host and port, so that a key for one may be sent to the other. */
export function sameOrigin(a: string, b: string): boolean {
  const origin = parseOrigin(a);
  return origin !== undefined && origin === parseOrigin(b);
}

function isPrivateV4(host: string): boolean {
  const parts = host.split(".").map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255)) return false;
  const [a = 0, b = 0] = parts;
  if (a === 127 || a === 10 || a === 0) return true;
  if (a === 172) return b >= 16 && b <= 31;
  if (a === 192) return b === 168;
  if (a === 169) return b === 254;
  return a === 100 && b >= 64 && b <= 127;
}

/** Loopback, private and link-local ranges, Tailscale, and the host names of container runtimes. */
export function isLocalUrl(url: string): boolean {
  const host = parseHost(url);
  if (host === undefined) return false;
  if (host === "localhost" || /\.(localhost|local)$/.test(host) || host === "::1") return true;
  if (/^(fe[89ab]|f[cd])[0-9a-f]*:/.test(host)) return true;
  if (/\.(docker|containers|lima)\.internal$/.test(host)) return true;
  return isPrivateV4(host);
}

/** This machine only, not its network. */
export function isLoopback(url: string): boolean {
  const host = parseHost(url);
  if (host === undefined) return false;
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127(\.\d+){3}$/.test(host);
}

/** `.example.com` in the list allows subdomains; other entries must be equal. */
export function hostAllowed(host: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) => (entry.startsWith(".") ? host.endsWith(entry) : host === entry));
}

/** The hosts to which the keys of the provider may be sent. */
export function providerHosts(spec: ProviderSpec): readonly string[] {
  const own = parseHost(spec.baseUrl);
  return own === undefined ? (spec.extraHosts ?? []) : [own, ...(spec.extraHosts ?? [])];
}

/** True for an address of the provider: the one in the catalog, or one of its hosts over https on the default port. */
export function isOwnAddress(spec: ProviderSpec, url: string): boolean {
  if (sameOrigin(url, spec.baseUrl)) return true;
  const host = parseHost(url);
  return host !== undefined && parseOrigin(url) === `https://${host}:443` && hostAllowed(host, providerHosts(spec));
}

/** The source of a base URL: the catalog, the URL variable of the provider, or the configuration. */
export type UrlSource = "catalog" | "variable" | "config";

export interface BaseUrl {
  readonly url: string;
  readonly source: UrlSource;
}

/**
 * True when the keys of the provider (variables and pool) may be sent to this URL: always to its own addresses, else
 * only to the address configured for it, by its URL variable or as `model.base_url` on the local network.
 */
export function mayReceiveKeys(spec: ProviderSpec, url: string, configured: BaseUrl): boolean {
  if (isOwnAddress(spec, url)) return true;
  if (spec.strictHosts || !sameOrigin(url, configured.url)) return false;
  return configured.source === "variable" || (configured.source === "config" && isLocalUrl(url));
}

/** OPENAI_API_KEY is also used for OpenRouter keys: the prefix tells them apart. */
export function isKeyFor(spec: ProviderSpec, variable: string, value: string): boolean {
  if (variable !== "OPENAI_API_KEY") return true;
  return value.trim().startsWith("sk-or-") === (spec.id === "openrouter");
}
