// A chat platform that a plugin brings: checked, completed, and kept from harming the gateway by its mistakes.

import { platformEntries } from "../app/platforms.ts";
import { UserError } from "../core/failure.ts";
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
} from "../core/platform.ts";
import type { PluginPlatform } from "../core/plugin.ts";
import type { Availability } from "../core/tool.ts";

/** Words of delivery targets and sources that are no platforms. */
const RESERVED = ["local", "origin", "all", "cli", "cron", "tool", "acp", "platforms", "plugins", "model"];
const SENDING = ["send", "edit", "delete", "sendFile", "learnMark"] as const;
const QUIET = ["typing", "react", "answerPress"] as const;
/** A message that the plugin has said nothing about for so long may or may not be there. */
const SEND_MS = 120_000;
const PLAIN = ["download", "findSent", "channels"] as const;
const HEALTH: readonly unknown[] = ["connecting", "ok", "degraded", "red"] satisfies HealthState[];

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A plugin has its own copy of `UserError`: it is known by its name. */
function passed(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== "UserError" || error instanceof UserError) return error;
  const { hint } = error as { hint?: unknown };
  return new UserError(error.message, { cause: error, ...(typeof hint === "string" ? { hint } : {}) });
}

function checkName(given: PluginPlatform): string {
  const { name } = given;
  if (typeof name !== "string" || !/^[a-z][a-z0-9_]{1,31}$/.test(name))
    throw new Error(`a platform needs a name of small letters, digits and _; found ${JSON.stringify(name)}`);
  if (RESERVED.includes(name) || platformEntries.some((entry) => entry.name === name))
    throw new Error(`the platform name "${name}" is taken`);
  if (typeof given.connect !== "function") throw new Error(`platform ${name} has no connect function`);
  return name;
}

/** What every platform has: a switch where nothing else must be set, and the list of people. */
function settingsOf(name: string, given: readonly PlatformSetting[]): readonly PlatformSetting[] {
  const prefix = name.toUpperCase();
  const usual: PlatformSetting[] = [
    ...(given.some(({ required }) => required)
      ? []
      : [{ env: `${prefix}_ENABLED`, key: "enabled", description: "Connect to it" }]),
    { env: `${prefix}_ALLOWED_USERS`, key: "allow_from", description: "Ids of people who may write, by comma" },
  ];
  return [...given, ...usual.filter(({ env }) => !given.some((setting) => setting.env === env))];
}

type Settled = Pick<PlatformContext, "setting" | "section">;

function usuallyEnabled(settings: readonly PlatformSetting[], name: string, { setting }: Settled): Availability {
  const needed = settings.filter(({ required }) => required);
  const missing = needed.filter(({ env }) => setting(env) === undefined).map(({ env }) => env);
  if (missing.length > 0) return { ok: false, reason: `${missing.join(", ")} not set` };
  const switched = `${name.toUpperCase()}_ENABLED`;
  const on = ["1", "true", "yes", "on"].includes((setting(switched) ?? "").toLowerCase());
  return needed.length > 0 || on ? { ok: true } : { ok: false, reason: `set ${switched}=true` };
}

/** An event with what a plugin may leave out. Throws when it could not be told apart from others. */
function completed(event: InboundEvent, name: string, now: number): InboundEvent {
  const { source, messageId } = event;
  const given = (value: unknown) => value !== undefined && value !== null && String(value) !== "";
  if (!given(messageId) || !given(source?.chatId))
    throw new Error(`platform ${name}: an event needs messageId and source.chatId, the same whenever it is delivered`);
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
  const complete = (event: InboundEvent) => completed(event, name, context.now());
  return {
    ...context,
    receive: async (event) => context.receive(complete(event)),
    receiveAll: async (events) => context.receiveAll(events.map(complete)),
  };
}

type Method = (...args: unknown[]) => unknown;

/** A send that always answers: what is thrown, missing or late means that nobody knows. */
function answering(method: Method, limitMs: number): Method {
  const unknown = (reason: string): SendResult => ({ ok: false, kind: "unknown", reason });
  return async (...args) => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<SendResult>((resolve) => {
      timer = setTimeout(() => resolve(unknown(`no word about a message for ${limitMs / 1000} s`)), limitMs);
    });
    try {
      const result = (await Promise.race([method(...args), late])) as SendResult | undefined;
      return typeof result?.ok === "boolean" ? result : unknown("the plugin gave no answer about a message");
    } catch (error) {
      return unknown(reasonOf(error));
    } finally {
      clearTimeout(timer);
    }
  };
}

function quiet(method: Method): Method {
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

/** What it says about itself; red when it says nothing of use. */
function healthOf(given: PlatformConnection): PlatformHealth {
  try {
    const health = given.health() as PlatformHealth | undefined;
    if (health && HEALTH.includes(health.state)) return { ...health, provenAt: health.provenAt ?? null };
    return { state: "red", provenAt: null, reason: "the plugin says nothing about the connection" };
  } catch (error) {
    return { state: "red", provenAt: null, reason: reasonOf(error) };
  }
}

/** What a plugin throws where it should have answered becomes an answer. */
function guardedConnection(given: PlatformConnection, name: string, sendMs: number): PlatformConnection {
  const methods = given as unknown as { readonly [name: string]: unknown };
  for (const needed of ["send", "health", "close"])
    if (typeof methods[needed] !== "function")
      throw new UserError(`platform ${name}: what connect() resolves with has no ${needed}()`, {
        hint: "Correct the plugin.",
      });
  const bound = (key: string) => (methods[key] as Method).bind(given);
  const having = (keys: readonly string[], wrap: (method: Method) => Method) =>
    Object.fromEntries(keys.filter((key) => typeof methods[key] === "function").map((key) => [key, wrap(bound(key))]));
  return {
    account: given.account ?? name,
    ...(given.accountName ? { accountName: given.accountName } : {}),
    ...having(SENDING, (method) => answering(method, sendMs)),
    ...having([...QUIET, "drain"], quiet),
    // Without a mark the message leaves all the same; a lost one is then sent again with a note.
    ...having(["mark"], orElse(null)),
    ...having(["working"], orElse(0)),
    ...having(PLAIN, (method) => method),
    health: () => healthOf(given),
    close: async () => {
      await (async () => given.close())().catch(() => undefined);
    },
  } as PlatformConnection;
}

/** Throws when it cannot be used; the text is for the plugin's author. */
export function completePlatform(given: PluginPlatform, plugin: string, sendMs: number = SEND_MS): Platform {
  const name = checkName(given);
  const settings = settingsOf(name, given.settings ?? []);
  const { capabilities, openSender, prove } = given;
  const guarded = (open: NonNullable<Platform["connect"]>) => async (context: PlatformContext) => {
    try {
      return guardedConnection(await open.call(given, guardedContext(context, name)), name, sendMs);
    } catch (error) {
      throw passed(error);
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
    enabled: (settled) => {
      try {
        return given.enabled ? given.enabled(settled) : usuallyEnabled(settings, name, settled);
      } catch (error) {
        return { ok: false, reason: `plugin ${plugin}: ${reasonOf(error)}` };
      }
    },
    connect: guarded(given.connect),
    ...(openSender ? { openSender: guarded(openSender) } : {}),
    ...(prove
      ? {
          prove: async (context) => {
            await prove.call(given, guardedContext(context, name)).catch((error: unknown) => {
              throw passed(error);
            });
          },
        }
      : {}),
  };
}
