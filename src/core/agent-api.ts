// The agent as server-like platforms use it: open conversations, read stored ones.
import type { ConversationOptions, OpenedConversation } from "./conversation.ts";
import type { SessionIndex, SessionLog } from "./store/session.ts";

export interface AgentApi {
  readonly store: SessionLog & SessionIndex;
  open(options: ConversationOptions): Promise<OpenedConversation>;
}
