// A webhook route: events, secret, message template and target of the answer.
import { UserError } from "../../core/failure.ts";

export const NO_AUTH = "INSECURE_NO_AUTH";
export const ROUTE_NAME = /^[a-z0-9][a-z0-9_-]*$/;

export interface Route {
  readonly name: string;
  readonly description: string;
  /** Empty for all events. */
  readonly events: readonly string[];
  readonly secret: string;
  /** Template of the message for the agent; empty shows the payload. */
  readonly prompt: string;
  readonly skills: readonly string[];
  /** `log`, `github_comment`, or a delivery target. */
  readonly deliver: string;
  readonly deliverExtra: { readonly [key: string]: string };
  /** Delivers the rendered text itself; no agent runs. */
  readonly deliverOnly: boolean;
  /** The sender repeats the same body on purpose: equal deliveries are not replays. */
  readonly repeats: boolean;
}

type Raw = { readonly [key: string]: unknown };

function texts(value: unknown): string[] {
  if (typeof value === "string")
    return value
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
  return Array.isArray(value) ? value.map(String) : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : String(value);
}

/** A route from its entry in the configuration or in the file of subscriptions. */
export function readRoute(name: string, raw: Raw, globalSecret: string): Route {
  const extra = raw.deliver_extra;
  const entries = typeof extra === "object" && extra !== null ? Object.entries(extra) : [];
  return {
    name,
    description: text(raw.description),
    events: texts(raw.events),
    secret: text(raw.secret) || globalSecret,
    prompt: text(raw.prompt),
    skills: texts(raw.skills),
    deliver: text(raw.deliver) || "log",
    deliverExtra: Object.fromEntries(entries.map(([key, value]) => [key, text(value)])),
    deliverOnly: raw.deliver_only === true,
    repeats: raw.repeats === true,
  };
}

/** Why a route is invalid; undefined when it is valid. */
export function routeProblem(route: Route, loopback: boolean): string | undefined {
  if (!ROUTE_NAME.test(route.name)) return "its name may only have lower-case letters, digits, - and _";
  if (route.secret === "") return "it has no secret";
  if (route.secret === NO_AUTH && !loopback) return "it accepts unsigned requests, which is allowed on loopback only";
  if (route.deliverOnly && route.deliver === "log") return "deliver_only needs a delivery target other than the log";
  return undefined;
}

/** Routes of the configuration: an invalid one prevents the start. */
export function requireRoute(route: Route, loopback: boolean): Route {
  const problem = routeProblem(route, loopback);
  if (problem === undefined) return route;
  throw new UserError(`webhook route "${route.name}" is not valid: ${problem}`, {
    hint: `Correct platforms.webhook.extra.routes.${route.name} in config.yaml.`,
  });
}

/** The delivery target for the gateway; null for none, undefined when the platform delivers the answer itself. */
export function routeTarget(route: Route, extra: { readonly [key: string]: string }): string | null | undefined {
  if (route.deliver === "log") return null;
  if (route.deliver === "github_comment") return undefined;
  if (route.deliver.includes(":") || !extra.chat_id) return route.deliver;
  const thread = extra.message_thread_id ?? extra.thread_id;
  return [route.deliver, extra.chat_id, ...(thread ? [thread] : [])].join(":");
}
