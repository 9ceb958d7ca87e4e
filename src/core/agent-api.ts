// The agent as server-like platforms use it: open conversations, read stored ones.
import type { ConversationOptions, OpenedConversation } from "./conversation.ts";
import type { SessionIndex, SessionLog } from "./store/session.ts";

export interface AgentApi {
  readonly store: SessionLog & SessionIndex;
  open(options: ConversationOptions): Promise<OpenedConversation>;
  /** The options that choose a configured model or alias; undefined when there is none of that name. */
  configuredModel?(name: string): Pick<ConversationOptions, "model" | "provider" | "baseUrl"> | undefined;
  /** Names of the configured models and aliases. */
  configuredModels?(): readonly string[];
}
