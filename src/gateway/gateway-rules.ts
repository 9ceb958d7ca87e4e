// What the settings say about chats: who is let in, who owns the agent, when sessions end, where the home channel is.
import type { App } from "../app/app.ts";
import { homeChannel } from "../app/deliver.ts";
import type { OpenedGateway } from "../app/open-gateway.ts";
import type { Destination, Platform, Source } from "../core/platform.ts";
import { type AccessSettings, ids } from "./access.ts";
import type { ResetPolicy } from "./reset-policy.ts";

type Platforms = ReadonlyMap<string, Platform>;

export function accessSettings(opened: OpenedGateway, platforms: Platforms): AccessSettings {
  const { app, pairing } = opened;
  const given = app.config.unauthorized_dm_behavior;
  return {
    setting: (platform, name) => opened.settings(platform, platforms.get(platform)?.settings ?? []).setting(name),
    section: (platform) => opened.settings(platform, []).section,
    unauthorizedDm: given,
    unauthorizedDmSet: given !== "pair" || app.home.env.UNAUTHORIZED_DM_BEHAVIOR !== undefined,
    paired: (platform, userId) => pairing.isApproved(platform, userId),
  };
}

/** The platform's own policy, above that of the kind of chat, above the general one. */
export function resetPolicyOf(config: App["config"], source: Source): ResetPolicy {
  const { session_reset: general, gateway } = config;
  const older = gateway as { readonly reset_by_platform?: unknown; readonly reset_by_type?: unknown };
  const from = (table: unknown, name: string) => (table as { readonly [name: string]: object } | undefined)?.[name];
  const special = {
    ...from(older.reset_by_type, source.chatKind),
    ...from(older.reset_by_platform, source.platform),
  };
  const merged = { ...general, ...special } as typeof general;
  return { mode: merged.mode, idleMinutes: merged.idle_minutes, atHour: merged.at_hour };
}

/** Named in `gateway.owners`; where nothing is named, the only person on a platform's allow-list. */
export function isOwner(config: App["config"], access: AccessSettings, source: Source): boolean {
  if (source.chatKind !== "dm" || !source.userId) return false;
  const named = ids((config.gateway as { readonly owners?: unknown }).owners);
  if (named.length > 0) return named.includes(`${source.platform}:${source.userId}`);
  const allowed = [
    ...ids(access.setting(source.platform, `${source.platform.toUpperCase()}_ALLOWED_USERS`)),
    ...ids(access.section(source.platform).allow_from),
  ];
  return new Set(allowed).size === 1 && allowed[0] === source.userId;
}

/** The same home channel that other programs of this home see. */
export function homeOf(opened: OpenedGateway, platforms: Platforms, name: string): Destination | undefined {
  const from = { section: opened.settings(name, []).section, variable: platforms.get(name)?.homeVariable };
  const found = homeChannel(opened.app.home.env, name, from);
  return found && { chatId: found.chatId, ...(found.threadId ? { threadId: found.threadId } : {}) };
}
