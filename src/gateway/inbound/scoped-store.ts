// The session store and the ledger as one user may see them: sessions of other users do not exist.

import type { Source } from "../../core/chat/platform.ts";
import type { Message } from "../../core/message.ts";
import type { HandoffStore } from "../../core/store/handoff.ts";
import type {
  ExportedSession,
  ListOptions,
  MessageRow,
  SearchAnswer,
  SearchOptions,
  SessionRow,
  SessionStore,
  SessionSummary,
  ToolResultRow,
} from "../../core/store/session.ts";
import { tenantOf } from "../../core/store/tenant.ts";
import type { UsageLedger } from "../../core/store/usage.ts";
import type { GatewayContext } from "../control/gateway-context.ts";

async function deny(): Promise<never> {
  throw new Error("This is not available in a chat.");
}

/**
 * Denies by default: every method of the contract is written out here, and a method that is not about one user's own
 * sessions rejects. Reads of another user's session find nothing; changes of it do nothing.
 */
export class ScopedStore implements SessionStore {
  readonly #store: SessionStore;
  readonly #userId: string;

  constructor(store: SessionStore, userId: string) {
    this.#store = store;
    this.#userId = userId;
  }

  async #owns(id: string): Promise<boolean> {
    return this.#ownRow(await this.#store.getSession(id)) !== null;
  }

  #ownRow(row: SessionRow | null): SessionRow | null {
    return row !== null && tenantOf(row) === this.#userId ? row : null;
  }

  async #ownId(id: string | null): Promise<string | null> {
    return id !== null && (await this.#owns(id)) ? id : null;
  }

  async #ownIds(ids: readonly string[]): Promise<string[]> {
    const own = await Promise.all(ids.map((id) => this.#owns(id)));
    return ids.filter((_, index) => own[index]);
  }

  // Finding sessions

  async getSession(id: string): Promise<SessionRow | null> {
    return this.#ownRow(await this.#store.getSession(id));
  }

  async getSessionByTitle(title: string): Promise<SessionRow | null> {
    return this.#ownRow(await this.#store.getSessionByTitle(title));
  }

  async resolveSessionId(idOrPrefix: string): Promise<string | null> {
    return this.#ownId(await this.#store.resolveSessionId(idOrPrefix));
  }

  async resolveSessionByTitle(title: string): Promise<string | null> {
    return this.#ownId(await this.#store.resolveSessionByTitle(title));
  }

  async getCompressionTip(id: string): Promise<string> {
    return (await this.#owns(id)) ? this.#store.getCompressionTip(id) : id;
  }

  async resolveResumeSessionId(id: string): Promise<string> {
    return (await this.#owns(id)) ? this.#store.resolveResumeSessionId(id) : id;
  }

  async ancestors(id: string): Promise<string[]> {
    return (await this.#owns(id)) ? this.#ownIds(await this.#store.ancestors(id)) : [];
  }

  listSessions(options?: ListOptions): Promise<SessionSummary[]> {
    return this.#store.listSessions({ ...options, userId: this.#userId });
  }

  searchSessions({
    source,
    limit,
    offset,
  }: Parameters<SessionStore["searchSessions"]>[0] = {}): Promise<SessionSummary[]> {
    return this.#store.listSessions({ source, limit, offset, userId: this.#userId });
  }

  searchMessages(query: string, options?: SearchOptions): Promise<SearchAnswer> {
    return this.#store.searchMessages(query, { ...options, userId: this.#userId });
  }

  // One session

  async getSessionTitle(id: string): Promise<string | null> {
    return (await this.#owns(id)) ? this.#store.getSessionTitle(id) : null;
  }

  async setSessionTitle(id: string, title: string | null): Promise<boolean> {
    return (await this.#owns(id)) ? this.#store.setSessionTitle(id, title) : false;
  }

  async getMessages(id: string, page?: Parameters<SessionStore["getMessages"]>[1]): Promise<MessageRow[]> {
    return (await this.#owns(id)) ? this.#store.getMessages(id, page) : [];
  }

  async getConversation(id: string, options?: Parameters<SessionStore["getConversation"]>[1]): Promise<Message[]> {
    return (await this.#owns(id)) ? this.#store.getConversation(id, options) : [];
  }

  async messageCount(id?: string): Promise<number> {
    if (id === undefined) return deny();
    return (await this.#owns(id)) ? this.#store.messageCount(id) : 0;
  }

  async toolResults(ids: readonly string[]): Promise<ToolResultRow[]> {
    return this.#store.toolResults(await this.#ownIds(ids));
  }

  async exportSession(id: string): Promise<ExportedSession | null> {
    return (await this.#owns(id)) ? this.#store.exportSession(id) : null;
  }

  async deleteSession(id: string, sessionsDir?: string): Promise<boolean> {
    return (await this.#owns(id)) ? this.#store.deleteSession(id, sessionsDir) : false;
  }

  // Writing the log of a conversation: the agent uses the store directly

  readonly createSession = deny;
  readonly endSession = deny;
  readonly reopenSession = deny;
  readonly updateSystemPrompt = deny;
  readonly updateTokenCounts = deny;
  readonly splitSession = deny;
  readonly appendMessage = deny;
  readonly appendMessages = deny;
  readonly undoMessages = deny;

  // The store as a whole

  /** Denied: it would reveal the titles of other users. */
  readonly getNextTitleInLineage = deny;
  readonly sessionCount = deny;
  exportAll(): AsyncIterable<ExportedSession> {
    throw new Error("This is not available in a chat.");
  }
  readonly importSession = deny;
  readonly pruneSessions = deny;
  readonly getMeta = deny;
  readonly setMeta = deny;
  readonly vacuum = deny;
  readonly stats = deny;
  readonly health = deny;
  readonly repair = deny;
  readonly setIndexLayout = deny;
  readonly close = deny;
}

/** Newest first; one user has far fewer sessions in a day. */
const MAX_SESSIONS = 1_000;

/** The ledger as one user may see it: what their own sessions used. */
function scopedLedger(ledger: UsageLedger, store: SessionStore, userId: string): UsageLedger {
  return {
    record: (entry) => ledger.record(entry),
    spent: (filter) => ledger.spent(filter),
    report: async (options) => {
      const every = { includeChildren: true, projectCompressionTips: false, orderByLastActive: true };
      const own = await store.listSessions({ ...every, userId, limit: MAX_SESSIONS });
      return ledger.report({ ...options, sessionIds: own.map(({ id }) => id) });
    },
  };
}

/** Handoffs start in the terminal; no chat may see or change them. */
const NO_HANDOFFS: HandoffStore = {
  requestHandoff: deny,
  claimHandoff: deny,
  completeHandoff: deny,
  failHandoff: deny,
  getHandoffState: deny,
  listPendingHandoffs: deny,
};

type Access = Pick<GatewayContext, "sharesHome" | "tenant" | "opened">;

/** The store for commands of this sender: the whole store for an owner in private, else only the sender's sessions. */
export function storeFor(gateway: Access, source: Source): SessionStore {
  const { store } = gateway.opened.app;
  return gateway.sharesHome(source) ? store : new ScopedStore(store, gateway.tenant(source));
}

/** The handoffs for commands of this sender. */
export function handoffsFor(gateway: Access, source: Source): HandoffStore {
  return gateway.sharesHome(source) ? gateway.opened.app.handoffs : NO_HANDOFFS;
}

/** The ledger for commands of this sender. */
export function ledgerFor(gateway: Access, source: Source): UsageLedger {
  const { ledger, store } = gateway.opened.app;
  return gateway.sharesHome(source) ? ledger : scopedLedger(ledger, store, gateway.tenant(source));
}
