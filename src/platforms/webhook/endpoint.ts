// POST /webhooks/{route}: checks route, size, signature, rate, format, event and duplicates, then passes the delivery on.
import { randomBytes } from "node:crypto";
import type { Context, Hono } from "hono";
import type { InboundEvent, PlatformContext } from "../../core/chat/platform.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { readLimited } from "../http/body.ts";
import { hostAllowed } from "../http/guards.ts";
import type { AnswerTargets } from "./answer-targets.ts";
import { NO_AUTH, type Route, readRoute, routeProblem, routeTarget } from "./route.ts";
import type { WebhookSettings } from "./settings.ts";
import { isSigned, signedContent } from "./signature.ts";
import type { SubscriptionFile } from "./subscriptions.ts";
import { render, renderAll } from "./template.ts";

const SEEN_MS = 3_600_000;
const MAX_SEEN = 10_000;
/** How long signed content is remembered. */
const REPLAY_MS = 30 * 86_400_000;

export interface EndpointParts {
  readonly context: PlatformContext;
  readonly settings: WebhookSettings;
  readonly targets: AnswerTargets;
  readonly subscriptions: SubscriptionFile;
  /** Called for each valid request, which proves that receiving works. */
  onProof(): void;
}

type Outcome = "stored" | "replay" | "failed";

interface Delivery {
  readonly route: Route;
  readonly id: string;
  /** Under this key a replay of the same signed content is recognised; undefined where repetitions are allowed. */
  readonly replay: string | undefined;
  readonly payload: unknown;
  readonly text: string;
  readonly extra: { readonly [key: string]: string };
}

function answer(status: number, body: { readonly [key: string]: unknown }): Response {
  return Response.json(body, { status });
}

/**
 * Tries JSON first, whatever the content type, because `curl -d` calls everything a form; else a form. The `payload`
 * field of a form may contain JSON, as GitHub sends it.
 */
function parse(body: Buffer, type: string): unknown {
  const text = body.toString("utf8");
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!type.includes("application/x-www-form-urlencoded") || text.trim() === "") throw error;
  }
  const form = Object.fromEntries(new URLSearchParams(text));
  return form.payload === undefined ? form : JSON.parse(form.payload);
}

function field(payload: unknown, name: string): string | undefined {
  if (typeof payload !== "object" || payload === null) return undefined;
  const value = (payload as { readonly [key: string]: unknown })[name];
  return typeof value === "string" ? value : undefined;
}

function eventNames(context: Context, payload: unknown): string[] {
  const header = context.req.header("x-github-event") ?? context.req.header("x-gitlab-event");
  const name = header ?? field(payload, "event_type") ?? field(payload, "type") ?? field(payload, "event");
  if (name === undefined) return [];
  const action = field(payload, "action");
  return action === undefined ? [name] : [name, `${name}.${action}`];
}

const ID_HEADERS = [
  "x-github-delivery",
  "x-gitlab-event-uuid",
  "webhook-id",
  "svix-id",
  "x-shopify-event-id",
  "x-shopify-webhook-id",
  "x-request-id",
  "idempotency-key",
];

function deliveryId(context: Context, payload: unknown, now: number): string {
  const header = ID_HEADERS.map((name) => context.req.header(name)?.trim()).find((value) => value);
  const stripe = context.req.header("stripe-signature") ? field(payload, "id") : undefined;
  const slack = context.req.header("x-slack-signature") ? field(payload, "event_id") : undefined;
  return (header ?? stripe ?? slack ?? `${now}-${randomBytes(4).toString("hex")}`)
    .replaceAll(/[^\w.-]/g, "_")
    .slice(0, 128);
}

/** True for requests of web pages, also by DNS rebinding: a route without a signature would accept them. */
function mayBePage(request: Context): boolean {
  return request.req.header("origin") !== undefined || !hostAllowed(request.req.header("host"), []);
}

/** Counts the requests of a route in the current minute. */
class RateWindows {
  readonly #windows = new Map<string, { since: number; count: number }>();

  /** Milliseconds to wait; 0 when the request may pass. */
  take(name: string, limit: number, now: number): number {
    const window = this.#windows.get(name);
    if (!window || now - window.since >= 60_000) {
      this.#windows.set(name, { since: now, count: 1 });
      return 0;
    }
    window.count += 1;
    return window.count > limit ? window.since + 60_000 - now : 0;
  }
}

export class Endpoint {
  readonly #parts: EndpointParts;
  readonly #rates = new RateWindows();
  readonly #seen = new Map<string, { readonly at: number; readonly stored: Promise<Outcome> }>();

  constructor(parts: EndpointParts) {
    this.#parts = parts;
  }

  async #route(name: string): Promise<Route | undefined> {
    const { settings, subscriptions, context } = this.#parts;
    const fixed = settings.routes.get(name);
    if (fixed) return fixed;
    const entry = Object.entries(await subscriptions.current((text) => context.log("warning", text))).find(
      ([known]) => known === name,
    )?.[1];
    if (!entry) return undefined;
    const route = readRoute(name, { ...entry }, settings.secret);
    const problem = routeProblem(route, settings.loopback);
    if (problem === undefined) return route;
    context.log("warning", `webhook route "${name}" is not valid: ${problem}`);
    return undefined;
  }

  async handle(request: Context, name: string): Promise<Response> {
    const { context, settings } = this.#parts;
    const route = await this.#route(name);
    if (!route) return answer(404, { error: `there is no route ${name}` });
    if (route.secret === NO_AUTH && mayBePage(request))
      return answer(403, { error: "a route without a secret does not answer to web pages" });
    const body = await readLimited(request.req.raw, settings.maxBody);
    if (body === null) return answer(413, { error: `a delivery has at most ${settings.maxBody} bytes` });
    const now = context.now();
    const header = (key: string) => request.req.header(key);
    if (route.secret !== NO_AUTH && !isSigned(header, route.secret, body, now))
      return answer(401, { error: "the signature is missing or wrong" });
    this.#parts.onProof();
    const wait = this.#rates.take(name, settings.ratePerMinute, now);
    if (wait > 0) {
      const refusal = answer(429, { error: "too many deliveries" });
      refusal.headers.set("retry-after", String(Math.ceil(wait / 1000)));
      return refusal;
    }
    let payload: unknown;
    try {
      payload = parse(body, request.req.header("content-type") ?? "");
    } catch {
      return answer(400, { error: "the body is neither JSON nor a form" });
    }
    // Slack asks once whether the address is ours.
    if (header("x-slack-signature") && field(payload, "type") === "url_verification")
      return answer(200, { challenge: field(payload, "challenge") ?? "" });
    const events = eventNames(request, payload);
    if (route.events.length > 0 && !events.some((event) => route.events.includes(event)))
      return answer(200, { status: "ignored", event: events[0] ?? null });
    const text = render(route.prompt, payload);
    const extra = renderAll(route.deliverExtra, payload);
    const id = deliveryId(request, payload, now);
    const isReplayable = route.secret !== NO_AUTH && !route.repeats;
    const replay = isReplayable ? `replay:${route.name}:${signedContent(header, body)}` : undefined;
    return this.#accept({ route, id, replay, payload, text, extra });
  }

  async #accept(delivery: Delivery): Promise<Response> {
    const { route, id } = delivery;
    const key = delivery.replay ?? `${route.name}:${id}`;
    const now = this.#parts.context.now();
    for (const [old, { at }] of this.#seen) {
      if (now - at < SEEN_MS && this.#seen.size < MAX_SEEN) break;
      this.#seen.delete(old);
    }
    const before = this.#seen.get(key);
    const stored = before?.stored ?? this.#store(delivery, key, now);
    if (!before) this.#seen.set(key, { at: now, stored });
    // A duplicate that arrives while the first is being stored gets the same answer.
    const outcome = await stored;
    if (outcome === "failed")
      return answer(route.deliverOnly ? 502 : 503, { error: "the delivery could not be stored; try again" });
    if (before || outcome === "replay") return answer(200, { status: "duplicate", delivery_id: id });
    const status = route.deliverOnly ? "delivered" : "accepted";
    return answer(route.deliverOnly ? 200 : 202, { status, route: route.name, delivery_id: id });
  }

  /** True when the same content was accepted before, also before a restart. */
  async #isReplay({ replay }: Delivery): Promise<boolean> {
    return replay !== undefined && (await this.#parts.context.memory.get(replay)) !== null;
  }

  async #store(delivery: Delivery, key: string, now: number): Promise<Outcome> {
    try {
      if (await this.#isReplay(delivery)) return "replay";
      if (delivery.route.deliverOnly) await this.#passOn(delivery);
      else await this.#toAgent(delivery, now);
      if (delivery.replay) await this.#parts.context.memory.set(delivery.replay, String(now), now + REPLAY_MS);
      return "stored";
    } catch (error) {
      // Not stored: the sender must retry, and the retry must not count as a duplicate.
      this.#seen.delete(key);
      this.#parts.context.log("error", `webhook ${key}: ${errorMessage(error)}`);
      return "failed";
    }
  }

  async #toAgent({ route, id, text, extra }: Delivery, now: number): Promise<void> {
    const { context, targets } = this.#parts;
    const chatId = `webhook:${route.name}:${id}`;
    const deliverTo = routeTarget(route, extra);
    // Without a target for the answer no turn is started, and the response says so.
    if (typeof deliverTo === "string" && context.reaches?.(deliverTo) === false)
      throw new Error(`nothing can be sent to ${deliverTo}`);
    if (deliverTo === undefined) await targets.store(chatId, extra);
    const event: InboundEvent = {
      account: "webhook",
      messageId: id,
      source: {
        platform: "webhook",
        chatId,
        chatKind: "webhook",
        chatName: route.description || route.name,
        userId: `webhook:${route.name}`,
        userName: route.name,
      },
      text,
      authenticated: true,
      autoSkills: route.skills.length > 0 ? route.skills : undefined,
      deliverTo,
      at: now,
    };
    await context.receive(event);
  }

  async #passOn({ route, id, text, extra }: Delivery): Promise<void> {
    const target = routeTarget(route, extra);
    if (target) return this.#parts.context.deliver(target, text, `webhook:${route.name}:${id}`);
    const { githubComment } = await import("./github-comment.ts");
    await githubComment(extra, text);
  }
}

export async function webhookApp(parts: EndpointParts): Promise<Hono> {
  const { Hono } = await import("hono");
  const endpoint = new Endpoint(parts);
  const app = new Hono();
  app.get("/health", () => answer(200, { status: "ok", platform: "webhook" }));
  app.post("/webhooks/:route", (context) => endpoint.handle(context, context.req.param("route")));
  app.notFound(() => answer(404, { error: "not found" }));
  app.onError((error) => {
    parts.context.log("error", `webhook: ${error.message}`);
    return answer(500, { error: "internal server error" });
  });
  return app;
}
