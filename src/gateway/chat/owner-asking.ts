// Asks an owner about a guest's turn, in the first of the owner's chats that can be reached.

import type { Source } from "../../core/chat/platform.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import type { GatewayContext } from "../control/gateway-context.ts";
import { Replies } from "../outbound/replies.ts";
import { visibleLine } from "./approval-text.ts";
import { ownerPlaces } from "./owner-places.ts";
import type { OwnerAsking } from "./prompts.ts";

const MAX_NAME = 60;

/** Who asks, and where. With ids, because users choose their names themselves. */
function describeGuest({ platform, userId, userName, chatKind, chatId, chatName }: Source): string {
  const name = userName ? `${visibleLine(userName, MAX_NAME)} ` : "";
  const chat = chatName ? `${visibleLine(chatName, MAX_NAME)} (${chatId})` : chatId;
  return `${name}(${platform} ${userId ?? "without id"}) ${chatKind === "dm" ? "in a private chat" : `in ${chat}`}`;
}

export function placeName(platform: string, chatId: string): string {
  return `${platform}:${chatId}`;
}

export function ownerAsking(gatewayContext: GatewayContext, row: InboxRow): OwnerAsking {
  const { source } = row.event;
  return {
    guest: describeGuest(source),
    show: async (make) => {
      const noOwner = "this agent has no owner yet (gateway.owners)";
      if (gatewayContext.owners.all().length === 0) return { problem: noOwner };
      const replies = new Replies(gatewayContext);
      for (const { platform, to } of ownerPlaces(gatewayContext, source)) {
        const { question, buttons } = make({
          buttons: platform.capabilities.buttons,
          maxLength: platform.maxLength,
        });
        const change = await replies.showOwner({ platform, to }, question, buttons);
        if (change) return { change, place: placeName(platform.name, to.chatId) };
      }
      return { problem: "the owner could not be reached" };
    },
  };
}
