// Webhook routes: add, list, remove and test them.
import { randomBytes } from "node:crypto";
import { readPlatformSettings } from "../../core/chat/platform-settings.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import type { Deliverer } from "../../core/job.ts";
import type { Settings } from "../../core/settings.ts";
import { nearest } from "../../lib/nearest.ts";
import { NO_AUTH, ROUTE_NAME, readRoute, routeProblem } from "./route.ts";
import { DEFAULT_PORT, WEBHOOK_SETTINGS } from "./settings.ts";
import { sign } from "./signature.ts";
import {
  changeSubscriptions,
  readSubscriptions,
  type Subscription,
  type Subscriptions,
  subscriptionsPath,
} from "./subscriptions.ts";

export interface SubscribeOptions extends Omit<Subscription, "secret" | "created_at"> {
  readonly name: string;
  readonly secret?: string | undefined;
}

export interface SubscribeOutcome {
  readonly path: string;
  /** The address to post to, on this machine. */
  readonly url: string;
  readonly secret: string;
  /** True when the secret was created by this call. */
  readonly made: boolean;
}

function requireName(name: string): void {
  if (ROUTE_NAME.test(name)) return;
  throw new UserError(`"${name}" is not a valid route name`, {
    hint: "Use lower-case letters, digits, - and _, starting with a letter or a digit.",
    exitCode: 2,
  });
}

/** The address under which this home serves its routes. */
export async function webhookRoot(home: Home, settings: Pick<Settings, "load">): Promise<string> {
  const { config } = await settings.load();
  const { setting } = readPlatformSettings({ home, config }, "webhook", WEBHOOK_SETTINGS);
  const configured = setting("WEBHOOK_HOST") ?? "127.0.0.1";
  const host = configured === "0.0.0.0" || configured === "::" ? "127.0.0.1" : configured;
  const port = Number(setting("WEBHOOK_PORT")) || DEFAULT_PORT;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}/webhooks/`;
}

/** True when the answers of a route go to a chat platform. */
export function deliversToPlatform({ deliver = "log" }: SubscribeOptions): boolean {
  return deliver !== "log" && deliver !== "github_comment";
}

/** Why the answers of a route cannot be delivered yet; undefined when they can. Throws for an unknown platform. */
export function deliveryProblem(deliverer: Deliverer, options: SubscribeOptions): string | undefined {
  const { deliver = "log", deliver_extra: extra } = options;
  const [name = "", chat] = deliver.split(":");
  const guess = nearest(name, deliverer.known());
  if (!deliverer.known().includes(name))
    throw new UserError(`there is no platform "${name}"${guess ? `; did you mean ${guess}?` : ""}`, {
      hint: "Nothing was changed. --deliver takes log, github_comment, or platform[:chat[:thread]].",
      exitCode: 2,
    });
  const hasNoChat = !chat && !extra?.chat_id && !deliverer.home(name);
  return deliverer.problem(name) ?? (hasNoChat ? `${name} has no home channel` : undefined);
}

/** Adds a route or replaces the one of that name; a running gateway uses it from the next delivery. */
export async function subscribeWebhook(
  home: Home,
  settings: Pick<Settings, "load">,
  options: SubscribeOptions,
): Promise<SubscribeOutcome> {
  const { name, ...fields } = options;
  requireName(name);
  const path = subscriptionsPath(home.path);
  const secret = options.secret ?? randomBytes(24).toString("base64url");
  const entry: Subscription = { ...fields, secret, created_at: new Date().toISOString() };
  const problem = routeProblem(readRoute(name, { ...entry }, ""), true);
  if (problem) throw new UserError(`the route is not valid: ${problem}`, { hint: "Nothing was changed.", exitCode: 2 });
  await changeSubscriptions(path, (before) => ({ ...before, [name]: entry }));
  return { path, url: `${await webhookRoot(home, settings)}${name}`, secret, made: options.secret === undefined };
}

export async function listWebhooks(home: Home): Promise<Subscriptions> {
  return readSubscriptions(subscriptionsPath(home.path));
}

async function requireSubscription(home: Home, name: string): Promise<Subscription> {
  const entry = (await listWebhooks(home))[name];
  if (entry) return entry;
  throw new UserError(`there is no route "${name}"`, { hint: "See: hermes webhook list" });
}

export async function removeWebhook(home: Home, name: string): Promise<void> {
  await requireSubscription(home, name);
  await changeSubscriptions(subscriptionsPath(home.path), (before) =>
    Object.fromEntries(Object.entries(before).filter(([known]) => known !== name)),
  );
}

export interface TestOutcome {
  readonly status: number;
  readonly answer: string;
}

/** Posts a signed payload to the running gateway, as a sender would. */
export async function testWebhook(
  home: Home,
  settings: Pick<Settings, "load">,
  name: string,
  payload: string,
): Promise<TestOutcome> {
  const { secret } = await requireSubscription(home, name);
  const url = `${await webhookRoot(home, settings)}${name}`;
  try {
    JSON.parse(payload);
  } catch {
    throw new UserError("the payload is not JSON", { hint: `Try: --payload '{"event_type":"test"}'`, exitCode: 2 });
  }
  const signature: { [name: string]: string } =
    secret === NO_AUTH ? {} : { "x-webhook-signature": sign(secret, payload) };
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...signature },
      body: payload,
      signal: AbortSignal.timeout(30_000),
    });
    return { status: answer.status, answer: await answer.text() };
  } catch (error) {
    throw new UserError(`no answer from ${url}`, {
      hint: "Set WEBHOOK_ENABLED=true and start the gateway: hermes gateway run",
      cause: error,
    });
  }
}
