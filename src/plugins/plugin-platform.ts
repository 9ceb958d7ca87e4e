// A chat platform of a plugin: checked, completed with defaults, and wrapped so that its errors do not stop the gateway.

import {
  type HealthState,
  type InboundEvent,
  PLAIN_CAPABILITIES,
  type Platform,
  type PlatformConnection,
  type PlatformContext,
  type PlatformHealth,
  type PlatformSetting,
  type SendResult,
} from "../core/chat/platform.ts";
import { UserError } from "../core/failure.ts";
import type { PluginPlatform } from "../core/plugin.ts";
import type { Availability } from "../core/tool/tool.ts";
import { withTimeout } from "../lib/async/with-timeout.ts";
import { errorMessage } from "../lib/error-message.ts";

/** Names that delivery targets and session sources use for something else. */
const RESERVED = ["local", "origin", "all", "cli", "cron", "tool", "acp", "platforms", "plugins", "model"];
const SEND_METHODS = ["send", "edit", "delete", "sendFile", "learnMark"] as const;
const BEST_EFFORT_METHODS = ["typing", "react", "answerPress"] as const;
/** After this time the result of a send is `unknown`. */
const SEND_TIMEOUT_MS = 120_000;
const OTHER_METHODS = ["download", "findSent", "channels"] as const;
const HEALTH_STATES: readonly unknown[] = ["connecting", "ok", "degraded", "red"] satisfies HealthState[];

/** A plugin has its own copy of the `UserError` class, so `instanceof` fails: it is recognized by its name. */
function asOwnUserError(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "UserError" || error instanceof UserError) return error;
  const { hint } = error as { hint?: unknown };
  return new UserError(error.message, { cause: error, hint: typeof hint === "string" ? hint : undefined });
}

function checkPlatform(platform: PluginPlatform, taken: readonly string[]): string {
  const { name } = platform;
  if (typeof name !== "string" || !/^[a-z][a-z0-9_]{1,31}$/.test(name))
    throw new Error(`a platform name consists of lower-case letters, digits and _, not ${JSON.stringify(name)}`);
  if (RESERVED.includes(name) || taken.includes(name)) throw new Error(`the platform name "${name}" is taken`);
  if (typeof platform.connect !== "function") throw new Error(`platform ${name} has no connect function`);
  return name;
}

/** Adds the settings that every platform has: the allowed users, and a switch when no setting is required. */
function completeSettings(name: string, given: readonly PlatformSetting[]): readonly PlatformSetting[] {
  const prefix = name.toUpperCase();
  const usual: PlatformSetting[] = [
    ...(given.some(({ required }) => required)
      ? []
      : [{ env: `${prefix}_ENABLED`, key: "enabled", description: "Connect to it" }]),
    {
      env: `${prefix}_ALLOWED_USERS`,
      key: "allow_from",
      description: "Ids of the users who may write, separated by commas",
    },
  ];
  return [...given, ...usual.filter(({ env }) => !given.some((setting) => setting.env === env))];
}

type SettingsReader = Pick<PlatformContext, "setting" | "section">;

function defaultEnabled(settings: readonly PlatformSetting[], name: string, { setting }: SettingsReader): Availability {
  const needed = settings.filter(({ required }) => required);
  const missing = needed.filter(({ env }) => setting(env) === undefined).map(({ env }) => env);
  if (missing.length > 0) return { ok: false, reason: `${missing.join(", ")} not set` };
  const enableVar = `${name.toUpperCase()}_ENABLED`;
  const on = ["1", "true", "yes", "on"].includes((setting(enableVar) ?? "").toLowerCase());
  return needed.length > 0 || on ? { ok: true } : { ok: false, reason: `set ${enableVar}=true` };
}

/** Fills in what a plugin may omit. Throws when the event cannot be identified. */
function completeEvent(event: InboundEvent, name: string, now: number): InboundEvent {
  const { source, messageId } = event;
  const given = (value: unknown) => value !== undefined && value !== null && String(value) !== "";
  if (!given(messageId) || !given(source?.chatId))
    throw new Error(
      `platform ${name}: an event needs messageId and source.chatId, and the same values when it is delivered again`,
    );
  const userId = given(source.userId) ? String(source.userId) : null;
  return {
    ...event,
    account: event.account ?? name,
    messageId: String(messageId),
    text: event.text ?? "",
    at: event.at ?? now,
    source: { ...source, platform: name, chatId: String(source.chatId), chatKind: source.chatKind ?? "dm", userId },
  };
}

function guardedContext(context: PlatformContext, name: string): PlatformContext {
  const complete = (event: InboundEvent) => completeEvent(event, name, context.now());
  return {
    ...context,
    receive: async (event) => context.receive(complete(event)),
    receiveAll: async (events) => context.receiveAll(events.map(complete)),
  };
}

type Method = (...args: unknown[]) => unknown;

/** A send that always returns a result: an error, a missing result or a time-out becomes `unknown`. */
function withSendResult(method: Method, limitMs: number): Method {
  const unknown = (reason: string): SendResult => ({ ok: false, kind: "unknown", reason });
  return async (...args) => {
    const late = () => unknown(`the plugin did not report on a message within ${limitMs / 1000} s`);
    try {
      const work = Promise.resolve(method(...args) as SendResult | undefined);
      const result = await withTimeout(work, limitMs, late);
      return typeof result?.ok === "boolean" ? result : unknown("the plugin returned no result for a message");
    } catch (error) {
      return unknown(errorMessage(error));
    }
  };
}

function ignoreErrors(method: Method): Method {
  return async (...args) => {
    await (async () => method(...args))().catch(() => undefined);
  };
}

function orElse<T>(fallback: T): (method: Method) => Method {
  return (method) =>
    (...args) => {
      try {
        return method(...args) ?? fallback;
      } catch {
        return fallback;
      }
    };
}

/** The reported health; red when the plugin reports nothing valid. */
function readHealth(given: PlatformConnection): PlatformHealth {
  try {
    const health = given.health() as PlatformHealth | undefined;
    if (health && HEALTH_STATES.includes(health.state)) return { ...health, provenAt: health.provenAt ?? null };
    return { state: "red", provenAt: null, reason: "the plugin does not report the state of the connection" };
  } catch (error) {
    return { state: "red", provenAt: null, reason: errorMessage(error) };
  }
}

/** Wraps a connection so that a method which throws returns a valid result instead. */
function guardedConnection(given: PlatformConnection, name: string, sendMs: number): PlatformConnection {
  const methods = given as unknown as { readonly [name: string]: unknown };
  for (const needed of ["send", "health", "close"])
    if (typeof methods[needed] !== "function")
      throw new UserError(`platform ${name}: the result of connect() has no ${needed}()`, {
        hint: "Fix the plugin.",
      });
  const bound = (key: string) => (methods[key] as Method).bind(given);
  const wrapAll = (keys: readonly string[], wrap: (method: Method) => Method) =>
    Object.fromEntries(keys.filter((key) => typeof methods[key] === "function").map((key) => [key, wrap(bound(key))]));
  return {
    account: given.account ?? name,
    accountName: given.accountName || undefined,
    ...wrapAll(SEND_METHODS, (method) => withSendResult(method, sendMs)),
    ...wrapAll([...BEST_EFFORT_METHODS, "drain"], ignoreErrors),
    // A message without a mark is still sent; when it is lost, it is sent again with a note.
    ...wrapAll(["mark"], orElse(null)),
    ...wrapAll(["working"], orElse(0)),
    ...wrapAll(OTHER_METHODS, (method) => method),
    health: () => readHealth(given),
    close: async () => {
      await (async () => given.close())().catch(() => undefined);
    },
  } as PlatformConnection;
}

export interface CompletePlatformOptions {
  /** Platform names that are not available. */
  readonly taken: readonly string[];
  readonly sendTimeoutMs?: number | undefined;
}

/** Throws when the platform cannot be used; the message is for the plugin's author. */
export function completePlatform(given: PluginPlatform, plugin: string, options: CompletePlatformOptions): Platform {
  const name = checkPlatform(given, options.taken);
  const sendMs = options.sendTimeoutMs ?? SEND_TIMEOUT_MS;
  const settings = completeSettings(name, given.settings ?? []);
  const { capabilities, openSender, prove } = given;
  const guarded = (open: NonNullable<Platform["connect"]>) => async (context: PlatformContext) => {
    try {
      return guardedConnection(await open.call(given, guardedContext(context, name)), name, sendMs);
    } catch (error) {
      throw asOwnUserError(error);
    }
  };
  return {
    label: name,
    maxLength: 4000,
    lengthUnit: "codepoints",
    promptHint: "",
    toolProgress: capabilities?.edit ? "new" : "off",
    ...given,
    name,
    settings,
    capabilities: { ...PLAIN_CAPABILITIES, ...capabilities },
    enabled: (reader) => {
      try {
        return given.enabled ? given.enabled(reader) : defaultEnabled(settings, name, reader);
      } catch (error) {
        return { ok: false, reason: `plugin ${plugin}: ${errorMessage(error)}` };
      }
    },
    connect: guarded(given.connect),
    ...(openSender ? { openSender: guarded(openSender) } : {}),
    ...(prove
      ? {
          prove: async (context) => {
            await prove.call(given, guardedContext(context, name)).catch((error: unknown) => {
              throw asOwnUserError(error);
            });
          },
        }
      : {}),
  };
}
