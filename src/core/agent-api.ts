// What a server-like platform may ask of the agent: open a conversation, look at the stored ones. Handed over by app/.
import type { OpenedConversation } from "./conversation.ts";
import type { Human } from "./human.ts";
import type { SessionStore } from "./session.ts";

export interface AgentApiOptions {
  readonly human: Human;
  readonly source: string;
  /** Whose default toolset applies. */
  readonly platform: string;
  /** Scopes memory and search to one person. */
  readonly userId?: string | undefined;
  /** A session id to go on with. */
  readonly resume?: string | undefined;
  /** The id for a new session; made when absent. */
  readonly sessionId?: string | undefined;
  /** Text of the caller for the model; part of the frozen prompt of a new session. */
  readonly instructions?: string | undefined;
}

export interface AgentApi {
  readonly store: SessionStore;
  open(options: AgentApiOptions): Promise<OpenedConversation>;
}
