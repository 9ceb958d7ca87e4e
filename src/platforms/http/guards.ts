// Checks of requests to a local server: addresses, Host and Origin headers, keys.
import { createHash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";

/** True for addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "");
  return name === "localhost" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name) || name === "::ffff:127.0.0.1";
}

/** The host name of a Host header or an origin, without its port; null when it is invalid. */
export function parseHostName(header: string): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:/\s[\]]+))(?::\d{1,5})?$/i.exec(header.trim());
  return match ? (match[1] ?? match[2] ?? "").toLowerCase() : null;
}

/**
 * Protects against DNS rebinding: such a page sends its own name as Host. Address literals and localhost cannot be
 * rebound, so they pass; any other name must be allowed.
 */
export function hostAllowed(header: string | undefined, allowed: readonly string[]): boolean {
  if (header === undefined) return false;
  const name = parseHostName(header);
  if (name === null) return false;
  return name === "localhost" || isIP(name) !== 0 || allowed.includes(name);
}

/** Requests without an Origin come from programs, not from pages. */
export function originAllowed(origin: string | undefined, allowed: readonly string[]): boolean {
  if (origin === undefined) return true;
  return allowed.includes("*") || allowed.includes(origin.toLowerCase());
}

/** Compares in constant time. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return expected !== "" && timingSafeEqual(digest(given), digest(expected));
}

const PLACEHOLDERS = /^(?:changeme|change[-_ ]?me|password|secret|test|example|your[-_ ].*|x+|<.*>|\*+)$/i;

/** Why a key is too weak for a server that other machines can reach; undefined when it is not. */
export function weakKey(key: string): string | undefined {
  if (key.length < 8) return "it has fewer than 8 characters";
  if (PLACEHOLDERS.test(key)) return "it is a placeholder";
  return undefined;
}
