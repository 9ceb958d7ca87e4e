// The agent as server-like platforms use it: open conversations, read stored ones.
import type { ConversationOptions, OpenedConversation } from "./conversation.ts";
import type { SessionStore } from "./session.ts";

export interface AgentApi {
  readonly store: SessionStore;
  open(options: ConversationOptions): Promise<OpenedConversation>;
}
