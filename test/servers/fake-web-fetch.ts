// Guarded fetches for tests: loopback is allowed, the rest of the policy comes from the test.
import type { Redactor } from "../../src/core/redactor.ts";
import type { WebCheck, WebFetch } from "../../src/core/tool/web.ts";
import { guardedFetch } from "../../src/security/guarded-fetch.ts";
import { createRedactor } from "../../src/security/redact.ts";
import { findBlockRule, normalizeHost, resolveUrl, type UrlPolicy } from "../../src/security/url-guard.ts";

export type TestPolicy = UrlPolicy;

/** The real redactor, knowing one secret. */
export function knowing(secret: string): Redactor {
  return createRedactor({ values: [secret] });
}

export function testFetch(policy: UrlPolicy = { allowPrivate: true }): WebFetch {
  return (url, request = {}) => guardedFetch(url, { ...request, policy });
}

export function testCheck(policy: UrlPolicy = { allowPrivate: true }): WebCheck {
  return async (url) => {
    const verdict = await resolveUrl(url, policy);
    if (verdict.ok) return { ok: true };
    if (verdict.rule !== "blocklist") return { ok: false, reason: verdict.reason };
    const host = normalizeHost(new URL(url));
    const rule = findBlockRule(host, policy.blocklist ?? []);
    const blocked = { host, rule: rule?.domain ?? "", source: rule?.source ?? "", message: verdict.reason };
    return { ok: false, reason: verdict.reason, blocked };
  };
}
