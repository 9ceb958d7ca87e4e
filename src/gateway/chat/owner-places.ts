// The chats of owners: their private chats, then the home channel of their platform; the guest's platform first.
import type { Destination, Platform, Source } from "../../core/chat/platform.ts";
import type { GatewayContext } from "../control/gateway-context.ts";

export interface OwnerPlace {
  readonly platform: Platform;
  readonly to: Destination;
}

/** The private chat in which this user was last active. */
function privateChat(gateway: GatewayContext, platform: string, userId: string): Destination | undefined {
  let newest: { readonly at: number; readonly to: Destination } | undefined;
  for (const entry of gateway.index.entries()) {
    const { origin } = entry;
    if (entry.platform !== platform || entry.chat_type !== "dm" || String(origin.user_id) !== userId) continue;
    const at = gateway.index.lastActive(entry);
    const threadId = origin.thread_id ? String(origin.thread_id) : undefined;
    if (!newest || at > newest.at) newest = { at, to: { chatId: String(origin.chat_id), threadId } };
  }
  if (newest) return newest.to;
  // On these platforms the id of a private chat is the id of the user.
  const sameId = (platform === "telegram" && /^\d+$/.test(userId)) || platform === "email";
  return sameId ? { chatId: userId } : undefined;
}

export function ownerPlaces(gateway: GatewayContext, source: Source): OwnerPlace[] {
  const owners = gateway.owners.all().filter((owner) => gateway.owners.has(owner));
  const near = owners.filter(({ platform }) => platform === source.platform);
  const far = owners.filter(({ platform }) => platform !== source.platform);
  const places: OwnerPlace[] = [];
  for (const { platform: name, userId } of [...near, ...far]) {
    const platform = gateway.platform(name);
    if (!platform || !gateway.isLinked(name)) continue;
    const to = privateChat(gateway, name, userId);
    if (to) places.push({ platform, to });
    const home = gateway.destination(name);
    if (home) places.push(home);
  }
  return places;
}
