// Signatures of common senders: GitHub, GitLab, Stripe, Slack, Shopify, Standard Webhooks, and a plain HMAC for others.
import { createHash, createHmac } from "node:crypto";
import { sameSecret } from "../http/guards.ts";

const TOLERANCE_S = 300;

type Header = (name: string) => string | undefined;

function hmac(secret: string, ...parts: (string | Uint8Array)[]): string {
  const mac = createHmac("sha256", secret);
  for (const part of parts) mac.update(part);
  return mac.digest("hex");
}

/** `t=1700000000,v1=hex[,v1=hex]` over `t.body`; older signatures are rejected as replays. */
function timestamped(header: string, secret: string, body: Uint8Array, nowMs: number): boolean {
  const pairs = header.split(",").map((pair) => pair.trim().split("=", 2) as [string, string | undefined]);
  const time = pairs.find(([name]) => name === "t")?.[1] ?? "";
  if (!/^\d{1,12}$/.test(time) || Math.abs(nowMs / 1000 - Number(time)) > TOLERANCE_S) return false;
  const expected = hmac(secret, `${time}.`, body);
  return pairs.some(([name, value]) => name === "v1" && sameSecret((value ?? "").toLowerCase(), expected));
}

function isFresh(seconds: string | undefined, nowMs: number): seconds is string {
  return seconds !== undefined && /^\d{1,12}$/.test(seconds) && Math.abs(nowMs / 1000 - Number(seconds)) <= TOLERANCE_S;
}

interface Signed {
  readonly header: Header;
  readonly secret: string;
  readonly body: Uint8Array;
  readonly nowMs: number;
}

/** `v1,base64 v1,base64` over `id.time.body`; the key is the base64 text after `whsec_`, else the text of the secret. */
function isStandard(prefix: "webhook" | "svix", { header, secret, body, nowMs }: Signed): boolean {
  const id = header(`${prefix}-id`);
  const time = header(`${prefix}-timestamp`);
  if (!id || !isFresh(time, nowMs)) return false;
  const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : secret;
  const expected = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest("base64");
  const given = (header(`${prefix}-signature`) ?? "").split(" ").map((each) => each.split(",", 2));
  return given.some(([version, value]) => version === "v1" && sameSecret(value ?? "", expected));
}

/** `v0=hex` over `v0:time:body`. */
function isFromSlack(signature: string, { header, secret, body, nowMs }: Signed): boolean {
  const time = header("x-slack-request-timestamp");
  return isFresh(time, nowMs) && sameSecret(signature.toLowerCase(), `v0=${hmac(secret, `v0:${time}:`, body)}`);
}

/** True when the request has a valid signature. The first signature header decides. */
export function isSigned(header: Header, secret: string, body: Uint8Array, nowMs: number): boolean {
  const github = header("x-hub-signature-256");
  if (github !== undefined) return sameSecret(github.toLowerCase(), `sha256=${hmac(secret, body)}`);
  const gitlab = header("x-gitlab-token");
  if (gitlab !== undefined) return sameSecret(gitlab, secret);
  const stripe = header("stripe-signature");
  if (stripe !== undefined) return timestamped(stripe, secret, body, nowMs);
  const signed = { header, secret, body, nowMs };
  const slack = header("x-slack-signature");
  if (slack !== undefined) return isFromSlack(slack, signed);
  const shopify = header("x-shopify-hmac-sha256");
  if (shopify !== undefined) return sameSecret(shopify, createHmac("sha256", secret).update(body).digest("base64"));
  for (const prefix of ["webhook", "svix"] as const)
    if (header(`${prefix}-signature`) !== undefined) return isStandard(prefix, signed);
  const plain = header("x-webhook-signature");
  if (plain === undefined) return false;
  if (plain.startsWith("t=")) return timestamped(plain, secret, body, nowMs);
  return sameSecret(plain.toLowerCase().replace(/^sha256=/, ""), hmac(secret, body));
}

/**
 * Identifies what was signed: the time and the body, or the body alone. Ids in headers are not signed, so a captured
 * delivery can be sent again under another id.
 */
export function signedContent(header: Header, body: Uint8Array): string {
  const stamped = header("stripe-signature") ?? header("x-webhook-signature") ?? "";
  const inHeader = header("x-slack-request-timestamp") ?? header("webhook-timestamp") ?? header("svix-timestamp");
  const time = /(?:^|,)\s*t=(\d{1,12})/.exec(stamped)?.[1] ?? inHeader ?? "";
  return createHash("sha256").update(`${time}.`).update(body).digest("hex");
}

/** The value of `X-Webhook-Signature`. */
export function sign(secret: string, body: string): string {
  return hmac(secret, body);
}
