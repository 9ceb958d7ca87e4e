// Settings for chats: access, owners, session resets and home channels.

import type { App } from "../../app/app.ts";
import type { OpenedGateway } from "../../app/open-gateway.ts";
import type { Destination, Platform, Source } from "../../core/chat/platform.ts";
import type { Role } from "../../core/chat/role.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import { homeChannel } from "../../delivery/api/targets.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { type AccessSettings, ids } from "../inbound/access.ts";
import { Owners } from "../inbound/owners.ts";
import type { ResetPolicy } from "../inbound/reset-policy.ts";
import { ledgerFor } from "../inbound/scoped-store.ts";
import { isShared, type KeyRules, tenantKey } from "../inbound/session-key.ts";
import { type RoleLimits, UserLimits } from "../inbound/user-limits.ts";

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
    // An unreadable list grants no access, and does not affect the other lists.
    paired: (platform, userId) =>
      pairing.isApproved(platform, userId).catch((error: unknown) => {
        log("warning", `the pairing list of ${platform} cannot be read: ${errorMessage(error)}`);
        return false;
      }),
  };
}

/** The platform's policy overrides that of the chat kind, which overrides the general one. */
export function resolveResetPolicy(config: App["config"], source: Source): ResetPolicy {
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

export function openOwners(opened: OpenedGateway, access: AccessSettings, platforms: () => Iterable<string>): Owners {
  const { gateway } = opened.app.config as {
    readonly gateway: { readonly owners?: unknown; readonly members?: unknown };
  };
  return new Owners({
    named: () => ids(gateway.owners),
    members: () => ids(gateway.members),
    access,
    platforms,
    firstPaired: () => opened.pairing.first(),
  });
}

/** Whose data a sender uses. */
export function userRules(owners: Owners, rules: KeyRules) {
  return {
    tenant: (source: Source) => tenantKey(source, rules),
    sharesHome: (source: Source) => source.chatKind === "dm" && owners.has(source),
  };
}

export function openLimits(opened: OpenedGateway, rules: ReturnType<typeof userRules>, now: () => number): UserLimits {
  return new UserLimits({
    limits: (role) => roleLimits(opened.app.config, role),
    ledger: (source) => ledgerFor({ ...rules, opened }, source),
    tenant: rules.tenant,
    now,
  });
}

/** `users` of the configuration. */
function roleLimits({ users }: App["config"], role: Exclude<Role, "owner">): RoleLimits {
  return role === "member"
    ? { turnsPerHour: users.member_turns_per_hour, dailyUsd: users.member_daily_usd }
    : { turnsPerHour: users.guest_turns_per_hour, dailyUsd: users.guest_daily_usd };
}

/** The role of a message's sender. Messages without a sender are a guest's. */
export function roleForRow(row: InboxRow, owners: Owners, rules: KeyRules): Role {
  const { source, internal } = row.event;
  // A signed webhook has the rights of the user who created its route.
  if (source.chatKind === "webhook") return "owner";
  return internal && isShared(source, rules) ? "guest" : owners.roleFor(source);
}

/** The home channel as other processes of this home read it. */
export function homeDestination(opened: OpenedGateway, platforms: Platforms, name: string): Destination | undefined {
  const from = { section: opened.settings(name, []).section, variable: platforms.get(name)?.homeVariable };
  const found = homeChannel(opened.app.home.env, name, from);
  return found && { chatId: found.chatId, threadId: found.threadId };
}
