// Decides whether a URL may be fetched: by its text, and by the addresses that its host resolves to.
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Redactor } from "../core/redactor.ts";
import { classifyAddress, isMetadataHost } from "./addresses.ts";

export interface BlocklistRule {
  readonly domain: string;
  /** The source of the rule: the configuration or a shared file. */
  readonly source: string;
}

export interface UrlPolicy {
  /** `security.allow_private_urls`; metadata services stay blocked. */
  readonly allowPrivate?: boolean | undefined;
  /** `host:port` pairs that may be private even without `allowPrivate`. */
  readonly allowHosts?: readonly string[] | undefined;
  readonly blocklist?: readonly BlocklistRule[] | undefined;
  /** Detects secrets that must not be sent inside a URL. */
  readonly redactor?: Redactor | undefined;
  /** Resolves host names; the system's resolver when absent. */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined;
}

export type UrlVerdict =
  | { readonly ok: true; readonly url: URL; readonly host: string; readonly port: number }
  | { readonly ok: false; readonly rule: string; readonly reason: string };

export type ResolvedVerdict =
  | {
      readonly ok: true;
      readonly url: URL;
      readonly host: string;
      readonly port: number;
      readonly addresses: readonly string[];
    }
  | { readonly ok: false; readonly rule: string; readonly reason: string };

const refuse = (rule: string, reason: string) => ({ ok: false, rule, reason }) as const;

/** The parts of a URL that could contain a secret, raw and decoded. */
function pieces(url: string): Set<string> {
  const found = new Set<string>();
  let text = url;
  for (let round = 0; round < 3; round++) {
    for (const piece of text.split(/[\s?&=/#:;,@|]+/)) if (piece.length >= 6) found.add(piece);
    const decoded = text.replace(/(?:%[0-9a-f]{2})+/gi, (code) =>
      Buffer.from(code.replaceAll("%", ""), "hex").toString("utf8"),
    );
    if (decoded === text) break;
    text = decoded;
  }
  found.add(text);
  return found;
}

function containsSecret(url: string, redactor: Redactor): boolean {
  const whole = url.replace(/[?&]/g, " ");
  for (const piece of pieces(whole)) {
    if (redactor.redact(piece, { code: true }) !== piece) return true;
  }
  return false;
}

/** The host in lower case, without brackets and trailing dots. */
export function normalizeHost(url: URL): string {
  return url.hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.+$/, "")
    .toLowerCase();
}

/** Suffix match; `*.domain` matches below the domain only. */
export function findBlockRule(host: string, rules: readonly BlocklistRule[]): BlocklistRule | undefined {
  const plain = host.replace(/^www\./, "");
  return rules.find(({ domain }) => {
    const cleaned = domain
      .trim()
      .toLowerCase()
      .replace(/^[a-z]+:\/\//, "")
      .replace(/\/.*$/, "");
    if (cleaned.startsWith("*.")) return plain.endsWith(cleaned.slice(1));
    const base = cleaned.replace(/^www\./, "");
    return base !== "" && (plain === base || plain.endsWith(`.${base}`));
  });
}

/** Checks the text of a URL without using the network. */
export function checkUrl(text: string, policy: UrlPolicy = {}): UrlVerdict {
  if (!URL.canParse(text)) return refuse("malformed", `not a URL: ${text.slice(0, 80)}`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return refuse("scheme", `only http and https are fetched, not ${url.protocol}`);
  const host = normalizeHost(url);
  if (host === "") return refuse("malformed", "the URL has no host");
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  if (isMetadataHost(host) || (isIP(host) && classifyAddress(host) === "metadata"))
    return refuse("metadata", `${host} is a cloud metadata service; it is never fetched`);
  const blocked = findBlockRule(host, policy.blocklist ?? []);
  if (blocked) return refuse("blocklist", `${host} is blocked by the rule ${blocked.domain} (${blocked.source})`);
  if (isPrivateName(host) && !mayBePrivate(host, port, policy))
    return refuse(
      "private",
      `${host} is a private address; allow it with: hermes config set security.allow_private_urls true`,
    );
  if (policy.redactor && containsSecret(text, policy.redactor))
    return refuse("secret_in_url", "the URL contains something that looks like a secret");
  return { ok: true, url, host, port };
}

function isPrivateName(host: string): boolean {
  if (isIP(host)) return classifyAddress(host) !== "public";
  return host === "localhost" || host.endsWith(".localhost") || host.endsWith(".internal") || host.endsWith(".local");
}

function mayBePrivate(host: string, port: number, policy: UrlPolicy): boolean {
  return policy.allowPrivate === true || (policy.allowHosts ?? []).includes(`${host}:${port}`);
}

async function systemResolve(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true, verbatim: true })).map((answer) => answer.address);
}

/** Checks a URL and every address of its host. Connections must use only the returned addresses. */
export async function resolveUrl(text: string, policy: UrlPolicy = {}): Promise<ResolvedVerdict> {
  const verdict = checkUrl(text, policy);
  if (!verdict.ok) return verdict;
  const { host, port } = verdict;
  if (isIP(host)) return { ...verdict, addresses: [host] };
  let addresses: readonly string[];
  try {
    addresses = await (policy.resolve ?? systemResolve)(host);
  } catch {
    return refuse("dns", `${host} cannot be resolved`);
  }
  if (addresses.length === 0) return refuse("dns", `${host} has no address`);
  for (const address of addresses) {
    const kind = classifyAddress(address);
    if (kind === "metadata") return refuse("metadata", `${host} resolves to a cloud metadata service`);
    if (kind === "private" && !mayBePrivate(host, port, policy))
      return refuse("private", `${host} resolves to the private address ${address}`);
  }
  return { ...verdict, addresses };
}
