// Continues toward the goal of a chat's session after a turn: the next message is stored like one of the user.
import { randomUUID } from "node:crypto";
import type { InboundEvent } from "../../core/chat/platform.ts";
import type { OpenedConversation } from "../../core/conversation.ts";
import type { AgentEvent } from "../../core/event.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import type { GatewayContext } from "../control/gateway-context.ts";
import { Replies } from "../outbound/replies.ts";

/** The rows to handle next; none when the session has no active goal. The verdict is sent to the chat. */
export async function continueGoal(
  gateway: GatewayContext,
  row: InboxRow,
  turn: { readonly opened: OpenedConversation; readonly ended: Extract<AgentEvent, { type: "ended" }> },
  signal: AbortSignal,
): Promise<readonly InboxRow[]> {
  const step = await turn.opened.conversation.goal.afterTurn(turn.ended, signal);
  if (step.notice) await new Replies(gateway).say(row, `🎯 ${step.notice}`, "goal");
  if (step.send === undefined) return [];
  const { account, source, deliverTo } = row.event;
  const event: InboundEvent = {
    account,
    source,
    deliverTo,
    messageId: `goal:${randomUUID()}`,
    text: step.send,
    internal: true,
    at: gateway.now(),
  };
  return gateway.opened.mailbox.accept(row.platform, [event]);
}
