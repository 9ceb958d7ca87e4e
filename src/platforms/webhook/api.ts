// What `hermes webhook` does: routes added, listed, removed and tried.
import { randomBytes } from "node:crypto";
import { openSettings } from "../../config/api.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import { readPlatformSettings } from "../../delivery/platform-settings.ts";
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
  /** Where the sender must post to, on this machine. */
  readonly url: string;
  readonly secret: string;
  /** The secret was made just now. */
  readonly made: boolean;
}

function requireName(name: string): void {
  if (ROUTE_NAME.test(name)) return;
  throw new UserError(`"${name}" is no name for a route`, {
    hint: "Use small letters, digits, - and _, starting with a letter or a digit.",
    exitCode: 2,
  });
}

/** Where the routes of this home are served, by its settings. */
export async function webhookRoot(home: Home): Promise<string> {
  const { config } = await openSettings(home).load();
  const { setting } = readPlatformSettings({ home, config }, "webhook", WEBHOOK_SETTINGS);
  const asked = setting("WEBHOOK_HOST") ?? "127.0.0.1";
  const host = asked === "0.0.0.0" || asked === "::" ? "127.0.0.1" : asked;
  const port = Number(setting("WEBHOOK_PORT")) || DEFAULT_PORT;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}/webhooks/`;
}

/** Why answers of a route would not arrive as things are; undefined when they would. Throws for a platform that does not exist. */
export async function deliveryProblem(home: Home, options: SubscribeOptions): Promise<string | undefined> {
  const { deliver = "log", deliver_extra: extra } = options;
  if (deliver === "log" || deliver === "github_comment") return undefined;
  const [{ openApp }, { configuredDeliverer }, { nearest }] = await Promise.all([
    import("../../app/compose.ts"),
    import("../../delivery/configured-deliverer.ts"),
    import("../../lib/nearest.ts"),
  ]);
  const [name = "", chat] = deliver.split(":");
  const app = await openApp(home);
  try {
    const deliverer = await configuredDeliverer(app);
    const guess = nearest(name, deliverer.known());
    if (!deliverer.known().includes(name))
      throw new UserError(`there is no platform "${name}"${guess ? `; did you mean ${guess}?` : ""}`, {
        hint: "Nothing was changed. --deliver takes log, github_comment, or platform[:chat[:thread]].",
        exitCode: 2,
      });
    const homeless = !chat && !extra?.chat_id && !deliverer.home(name);
    return deliverer.problem(name) ?? (homeless ? `${name} has no home channel` : undefined);
  } finally {
    await app.close();
  }
}

/** Adds a route or replaces the one of that name; a running gateway sees it with the next delivery. */
export async function subscribeWebhook(home: Home, options: SubscribeOptions): Promise<SubscribeOutcome> {
  const { name, ...fields } = options;
  requireName(name);
  const path = subscriptionsPath(home.path);
  const secret = options.secret ?? randomBytes(24).toString("base64url");
  const entry: Subscription = { ...fields, secret, created_at: new Date().toISOString() };
  const problem = routeProblem(readRoute(name, { ...entry }, ""), true);
  if (problem)
    throw new UserError(`the route would not serve: ${problem}`, { hint: "Nothing was changed.", exitCode: 2 });
  await changeSubscriptions(path, (before) => ({ ...before, [name]: entry }));
  return { path, url: `${await webhookRoot(home)}${name}`, secret, made: options.secret === undefined };
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
export async function testWebhook(home: Home, name: string, payload: string): Promise<TestOutcome> {
  const { secret } = await requireSubscription(home, name);
  const url = `${await webhookRoot(home)}${name}`;
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
    throw new UserError(`nobody answers at ${url}`, {
      hint: "Set WEBHOOK_ENABLED=true and start the gateway: hermes gateway run",
      cause: error,
    });
  }
}
