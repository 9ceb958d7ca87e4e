// Which key may go to which address. A key belongs to one scheme, host and port; this is the one place that decides.
import type { ProviderSpec } from "../provider-spec.ts";

/** The host name in lower case, without port; undefined for what is no http(s) address. */
export function hostOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const parsed = new URL(url);
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") return undefined;
  return parsed.hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}

/** Scheme, host and port; undefined for what is no http(s) address. */
export function originOf(url: string): string | undefined {
  const host = hostOf(url);
  if (host === undefined) return undefined;
  const { protocol, port } = new URL(url);
  return `${protocol}//${host}:${port || (protocol === "https:" ? "443" : "80")}`;
}

/** True when both addresses have the same scheme, host and port, so that a key for one may go to the other. */
export function sameOrigin(a: string, b: string): boolean {
  const origin = originOf(a);
  return origin !== undefined && origin === originOf(b);
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
  const host = hostOf(url);
  if (host === undefined) return false;
  if (host === "localhost" || /\.(localhost|local)$/.test(host) || host === "::1") return true;
  if (/^(fe[89ab]|f[cd])[0-9a-f]*:/.test(host)) return true;
  if (/\.(docker|containers|lima)\.internal$/.test(host)) return true;
  return isPrivateV4(host);
}

/** This machine itself, not its network. */
export function isLoopback(url: string): boolean {
  const host = hostOf(url);
  if (host === undefined) return false;
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127(\.\d+){3}$/.test(host);
}

/** `.example.com` in the list allows subdomains; anything else is compared whole. */
export function hostAllowed(host: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) => (entry.startsWith(".") ? host.endsWith(entry) : host === entry));
}

/** Every host that the provider's own keys are for. */
export function hostsOf(spec: ProviderSpec): readonly string[] {
  const own = hostOf(spec.baseUrl);
  return own === undefined ? (spec.extraHosts ?? []) : [own, ...(spec.extraHosts ?? [])];
}

/** True for the provider's own address: the one in the catalog, or one of its hosts over https on the usual port. */
export function isOwnAddress(spec: ProviderSpec, url: string): boolean {
  if (sameOrigin(url, spec.baseUrl)) return true;
  const host = hostOf(url);
  return host !== undefined && originOf(url) === `https://${host}:443` && hostAllowed(host, hostsOf(spec));
}

/** Where a base URL came from: the catalog, the provider's own variable, or the configuration beside the provider's name. */
export type UrlSource = "catalog" | "variable" | "config";

export interface Place {
  readonly url: string;
  readonly source: UrlSource;
}

/**
 * May the provider's keys (variables and pool) go to this URL? To its own addresses always. Elsewhere only to the one
 * address that was configured for this provider: by its own URL variable, or as `model.base_url` on the own network.
 */
export function providerKeysMayGo(spec: ProviderSpec, url: string, configured: Place): boolean {
  if (isOwnAddress(spec, url)) return true;
  if (spec.strictHosts || !sameOrigin(url, configured.url)) return false;
  return configured.source === "variable" || (configured.source === "config" && isLocalUrl(url));
}

/** OPENAI_API_KEY has long been used for OpenRouter keys too: its shape tells whose it is. */
export function variableServes(spec: ProviderSpec, variable: string, value: string): boolean {
  if (variable !== "OPENAI_API_KEY") return true;
  return value.trim().startsWith("sk-or-") === (spec.id === "openrouter");
}
