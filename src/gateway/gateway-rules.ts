// What the settings say about chats: who is let in, who owns the agent, when sessions end, where the home channel is.
import type { App } from "../app/app.ts";
import { homeChannel } from "../app/deliver.ts";
import type { OpenedGateway } from "../app/open-gateway.ts";
import type { Destination, Platform, Source } from "../core/platform.ts";
import { type AccessSettings, ids } from "./access.ts";
import type { ResetPolicy } from "./reset-policy.ts";

type Platforms = ReadonlyMap<string, Platform>;

type Log = (level: "warning", text: string) => void;

export function accessSettings(opened: OpenedGateway, platforms: Platforms, log: Log): AccessSettings {
  const { app, pairing } = opened;
  const given = app.config.unauthorized_dm_behavior;
  return {
    setting: (platform, name) => opened.settings(platform, platforms.get(platform)?.settings ?? []).setting(name),
    section: (platform) => opened.settings(platform, []).section,
    unauthorizedDm: given,
    unauthorizedDmSet: given !== "pair" || app.home.env.UNAUTHORIZED_DM_BEHAVIOR !== undefined,
    // A list that cannot be read lets nobody in, and must not keep out those who are on other lists.
    paired: (platform, userId) =>
      pairing.isApproved(platform, userId).catch((error: unknown) => {
        log("warning", `who was paired on ${platform} is not known: ${error instanceof Error ? error.message : error}`);
        return false;
      }),
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

/** Named in `gateway.owners`; where nothing is named, the only person on a platform's allow-list. Null: nobody is. */
function ownersOn(config: App["config"], access: AccessSettings, platform: string): readonly string[] | null {
  const same = (list: readonly string[]) => (platform === "email" ? list.map((each) => each.toLowerCase()) : list);
  const named = ids((config.gateway as { readonly owners?: unknown }).owners);
  const prefix = `${platform}:`;
  if (named.length > 0)
    return same(named.filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length)));
  const allowed = [
    ...ids(access.setting(platform, `${platform.toUpperCase()}_ALLOWED_USERS`)),
    ...ids(access.section(platform).allow_from),
  ];
  const [only = ""] = allowed;
  const one = new Set(allowed).size === 1 && only !== "*" && !only.startsWith("@");
  return one ? same([only]) : null;
}

/** Shares the home's own memory: an owner, in private. */
export function isOwner(config: App["config"], access: AccessSettings, source: Source): boolean {
  if (source.chatKind !== "dm" || !source.userId) return false;
  return ownersOn(config, access, source.platform)?.includes(source.userId) ?? false;
}

/** May change what concerns everybody: an owner, wherever they write; where nobody is one, whoever is let in. */
export function mayManage(config: App["config"], access: AccessSettings, source: Source): boolean {
  return ownersOn(config, access, source.platform)?.includes(source.userId ?? "") ?? true;
}

/** The same home channel that other programs of this home see. */
export function homeOf(opened: OpenedGateway, platforms: Platforms, name: string): Destination | undefined {
  const from = { section: opened.settings(name, []).section, variable: platforms.get(name)?.homeVariable };
  const found = homeChannel(opened.app.home.env, name, from);
  return found && { chatId: found.chatId, ...(found.threadId ? { threadId: found.threadId } : {}) };
}
