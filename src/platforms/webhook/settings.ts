// The webhook platform's settings.
import type { PlatformContext, PlatformSetting } from "../../core/chat/platform.ts";
import { isLoopback } from "../http/guards.ts";
import { readPort } from "../http/listen.ts";
import { type Route, readRoute, requireRoute } from "./route.ts";

export const DEFAULT_PORT = 8644;
const RATE_PER_MINUTE = 30;
const MAX_BODY = 1024 * 1024;

export const WEBHOOK_SETTINGS: readonly PlatformSetting[] = [
  { env: "WEBHOOK_ENABLED", key: "enabled", description: "Receive webhooks in the gateway" },
  { env: "WEBHOOK_SECRET", key: "secret", description: "Secret of routes without their own", secret: true },
  { env: "WEBHOOK_HOST", key: "host", description: "Address to listen on (127.0.0.1)" },
  { env: "WEBHOOK_PORT", key: "port", description: "Port to listen on (8644)" },
];

export interface WebhookSettings {
  readonly host: string;
  readonly port: number;
  readonly loopback: boolean;
  readonly secret: string;
  readonly ratePerMinute: number;
  readonly maxBody: number;
  readonly routes: ReadonlyMap<string, Route>;
}

function positive(value: unknown, fallback: number): number {
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? number : fallback;
}

export function readWebhookSettings({
  setting,
  section,
}: Pick<PlatformContext, "setting" | "section">): WebhookSettings {
  const host = setting("WEBHOOK_HOST")?.trim() || "127.0.0.1";
  const secret = setting("WEBHOOK_SECRET") ?? "";
  const loopback = isLoopback(host);
  const raw = typeof section.routes === "object" && section.routes !== null ? section.routes : {};
  const routes = new Map<string, Route>();
  for (const [name, entry] of Object.entries(raw)) {
    const fields = typeof entry === "object" && entry !== null ? (entry as { [key: string]: unknown }) : {};
    routes.set(name, requireRoute(readRoute(name, fields, secret), loopback));
  }
  return {
    host,
    port: readPort(setting("WEBHOOK_PORT"), DEFAULT_PORT, "WEBHOOK_PORT"),
    loopback,
    secret,
    ratePerMinute: positive(section.rate_limit, RATE_PER_MINUTE),
    maxBody: positive(section.max_body_bytes, MAX_BODY),
    routes,
  };
}
