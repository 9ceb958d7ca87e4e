// Access control: who may write to the agent, and whether others are offered pairing. The order of the checks is fixed.
import type { InboundEvent } from "../../core/chat/platform.ts";

export interface AccessSettings {
  /** A setting by its environment name: the environment first, then the platform's section. */
  setting(platform: string, name: string): string | undefined;
  /** The platform's section of the configuration. */
  section(platform: string): { readonly [key: string]: unknown };
  readonly unauthorizedDm: "pair" | "ignore";
  /** True when the value is set, not a default. */
  readonly unauthorizedDmSet: boolean;
  paired(platform: string, userId: string): Promise<boolean>;
}

export type Access = { readonly allowed: true } | { readonly allowed: false; readonly offer: "pair" | "nothing" };

const ALLOWED: Access = { allowed: true };
const SELF_AUTHENTICATED = ["homeassistant", "webhook", "api_server", "msgraph_webhook"];

export function ids(value: unknown): string[] {
  const list = Array.isArray(value) ? value : String(value ?? "").split(",");
  return list.map((item) => String(item).trim()).filter((item) => item !== "");
}

function isOn(value: string | undefined): boolean {
  return ["1", "true", "yes", "on"].includes((value ?? "").toLowerCase());
}

function variable(platform: string, name: string): string {
  // QQ has an older, shorter prefix.
  return `${platform === "qqbot" ? "QQ" : platform.toUpperCase()}_${name}`;
}

interface Lists {
  readonly users: readonly string[];
  readonly groupUsers: readonly string[];
  readonly groupChats: readonly string[];
  readonly everywhere: readonly string[];
}

function readLists(platform: string, settings: AccessSettings): Lists {
  const from = (name: string) => ids(settings.setting(platform, variable(platform, name)));
  const section = settings.section(platform);
  const groupUsers = [...from("GROUP_ALLOWED_USERS"), ...ids(section.group_allow_from)];
  return {
    users: [...from("ALLOWED_USERS"), ...ids(section.allow_from)],
    groupUsers: groupUsers.filter((id) => !id.startsWith("-")),
    // Lists of users sometimes contain chats; their ids are negative.
    groupChats: [...from("GROUP_ALLOWED_CHATS"), ...groupUsers.filter((id) => id.startsWith("-"))],
    everywhere: ids(settings.setting(platform, "GATEWAY_ALLOWED_USERS")),
  };
}

function isListed(list: readonly string[], id: string): boolean {
  return list.includes("*") || list.includes(id) || list.includes(id.split("@")[0] ?? id);
}

/** Compares whole addresses without case; `@example.org` means every address of the domain. */
function isListedAddress(list: readonly string[], id: string): boolean {
  const address = id.toLowerCase();
  const accepted = ["*", address, address.slice(address.lastIndexOf("@"))];
  return list.some((entry) => accepted.includes(entry.toLowerCase()));
}

function offerTo(event: InboundEvent, settings: AccessSettings, anyList: boolean): Access {
  if (event.source.chatKind !== "dm" || event.press) return { allowed: false, offer: "nothing" };
  const own = settings.section(event.source.platform).unauthorized_dm_behavior;
  if (own === "pair") return { allowed: false, offer: "pair" };
  if (own === "ignore") return { allowed: false, offer: "nothing" };
  if (settings.unauthorizedDmSet && settings.unauthorizedDm !== "pair") return { allowed: false, offer: "nothing" };
  return { allowed: false, offer: anyList ? "nothing" : "pair" };
}

/** The same check for messages, button presses and messages that arrive during a turn. */
export async function checkAccess(event: InboundEvent, settings: AccessSettings): Promise<Access> {
  const { platform, userId, chatKind, chatId, isBot } = event.source;
  if (event.authenticated || SELF_AUTHENTICATED.includes(platform)) return ALLOWED;
  if (userId === null || userId === "") return { allowed: false, offer: "nothing" };
  if (isOn(settings.setting(platform, variable(platform, "ALLOW_ALL_USERS")))) return ALLOWED;
  const bots = settings.setting(platform, variable(platform, "ALLOW_BOTS")) ?? "none";
  if (isBot) return bots === "mentions" || bots === "all" ? ALLOWED : { allowed: false, offer: "nothing" };
  // Only the platform knows the roles, so it has compared them.
  if (ids(settings.setting(platform, variable(platform, "ALLOWED_ROLES"))).length > 0) return ALLOWED;
  if (await settings.paired(platform, userId)) return ALLOWED;
  const lists = readLists(platform, settings);
  const anyList = Object.values(lists).some((list) => (list as readonly string[]).length > 0);
  if (!anyList)
    return isOn(settings.setting(platform, "GATEWAY_ALLOW_ALL_USERS")) ? ALLOWED : offerTo(event, settings, false);
  if (chatKind !== "dm" && isListed(lists.groupChats, chatId)) return ALLOWED;
  const group = chatKind === "dm" ? [] : lists.groupUsers;
  const allowedUsers = [...lists.users, ...group, ...lists.everywhere];
  if (platform === "email" ? isListedAddress(allowedUsers, userId) : isListed(allowedUsers, userId)) return ALLOWED;
  return offerTo(event, settings, true);
}

/** Whether the sender may use this command. Restricts only where an admin list is set for the kind of chat. */
export function mayUse(command: string, event: InboundEvent, section: { readonly [key: string]: unknown }): boolean {
  const dm = event.source.chatKind === "dm";
  const admins = ids(dm ? section.allow_admin_from : section.group_allow_admin_from);
  if (admins.length === 0) return true;
  if (admins.includes(event.source.userId ?? "")) return true;
  const forGroup = ids(section.group_user_allowed_commands);
  const own = dm ? ids(section.user_allowed_commands) : forGroup;
  const allowed = own.length > 0 ? own : forGroup;
  return ["help", "whoami", ...allowed.map((name) => name.replace(/^\//, ""))].includes(command);
}
