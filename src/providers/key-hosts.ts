// Which key may go to which host. The one place that decides it.
import type { ProviderSpec } from "./provider-spec.ts";

/** Sent where a server wants some key and needs none. */
export const PLACEHOLDER_KEY = "no-key-required";

const PLACEHOLDER_WORDS = new Set([
  "none",
  "null",
  "changeme",
  "placeholder",
  "your-api-key",
  "your_api_key",
  "xxxx",
  "dummy",
  "todo",
]);

/** False for what is too short to be a secret or stands in for one. */
export function isUsableSecret(value: string | undefined): value is string {
  const trimmed = value?.trim() ?? "";
  return (
    trimmed.length >= 4 && !PLACEHOLDER_WORDS.has(trimmed.toLowerCase()) && !/^(your|<)[-_ a-z]*key/i.test(trimmed)
  );
}

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
  if (host === "localhost" || host.endsWith(".localhost") || host === "::1") return true;
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

/** Where a base URL came from: the catalog, the provider's own variable, or the configuration beside the provider's name. */
export type UrlSource = "catalog" | "variable" | "config";

/**
 * May the provider's keys (variables and pool) go to this URL? To its own hosts over https always. Elsewhere only
 * where the person paired the two: by the provider's own URL variable, or with a server on their own network.
 */
export function providerKeysMayGo(spec: ProviderSpec, url: string, source: UrlSource): boolean {
  const host = hostOf(url);
  if (host === undefined) return false;
  if (hostAllowed(host, hostsOf(spec))) return url.toLowerCase().startsWith("https:") || isLocalUrl(url);
  if (spec.strictHosts) return false;
  return source === "variable" || (source === "config" && isLocalUrl(url));
}

/** OPENAI_API_KEY has long been used for OpenRouter keys too: its shape tells whose it is. */
export function variableServes(spec: ProviderSpec, variable: string, value: string): boolean {
  if (variable !== "OPENAI_API_KEY") return true;
  return value.trim().startsWith("sk-or-") === (spec.id === "openrouter");
}
