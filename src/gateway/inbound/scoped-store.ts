// The session store as one person may see it: sessions of others do not exist.
import type { SessionStore } from "../../core/session.ts";
import type { UsageLedger } from "../../core/usage.ts";

type Overrides = Partial<SessionStore>;

function overridesFor(store: SessionStore, userId: string): Overrides {
  const mine = async (id: string): Promise<boolean> => (await store.getSession(id))?.user_id === userId;
  const onlyMine = async (id: string | null): Promise<string | null> => (id !== null && (await mine(id)) ? id : null);
  const refused = async (): Promise<never> => {
    throw new Error("This is not available in a chat.");
  };
  return {
    getSession: async (id) => {
      const row = await store.getSession(id);
      return row?.user_id === userId ? row : null;
    },
    getSessionByTitle: async (title) => {
      const row = await store.getSessionByTitle(title);
      return row?.user_id === userId ? row : null;
    },
    resolveSessionId: async (text) => onlyMine(await store.resolveSessionId(text)),
    resolveSessionByTitle: async (title) => onlyMine(await store.resolveSessionByTitle(title)),
    listSessions: (options) => store.listSessions({ ...options, userId }),
    searchSessions: ({ source, limit, offset } = {}) =>
      store.listSessions({
        userId,
        ...(source === undefined ? {} : { source }),
        ...(limit === undefined ? {} : { limit }),
        ...(offset === undefined ? {} : { offset }),
      }),
    searchMessages: (query, options) => store.searchMessages(query, { ...options, userId }),
    getMessages: async (id, page) => ((await mine(id)) ? store.getMessages(id, page) : []),
    getConversation: async (id, options) => ((await mine(id)) ? store.getConversation(id, options) : []),
    getSessionTitle: async (id) => ((await mine(id)) ? store.getSessionTitle(id) : null),
    setSessionTitle: async (id, title) => ((await mine(id)) ? store.setSessionTitle(id, title) : false),
    exportSession: async (id) => ((await mine(id)) ? store.exportSession(id) : null),
    deleteSession: async (id, dir) => ((await mine(id)) ? store.deleteSession(id, dir) : false),
    pruneSessions: refused,
    importSession: refused,
    stats: refused,
    repair: refused,
    vacuum: refused,
    exportAll: () => {
      throw new Error("This is not available in a chat.");
    },
  };
}

export function scopedStore(store: SessionStore, userId: string): SessionStore {
  const overrides = overridesFor(store, userId);
  return new Proxy(store, {
    get(target, name) {
      if (Object.hasOwn(overrides, name)) return overrides[name as keyof SessionStore];
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Newest first; a day of one person has far fewer. */
const MOST_SESSIONS = 1_000;

/** The ledger as one person may see it: what their own sessions used. */
export function scopedLedger(
  { ledger, store }: { readonly ledger: UsageLedger; readonly store: SessionStore },
  userId: string,
): UsageLedger {
  return {
    record: (entry) => ledger.record(entry),
    spent: (filter) => ledger.spent(filter),
    report: async (options) => {
      const every = { includeChildren: true, projectCompressionTips: false, orderByLastActive: true };
      const own = await store.listSessions({ ...every, userId, limit: MOST_SESSIONS });
      return ledger.report({ ...options, sessionIds: own.map(({ id }) => id) });
    },
  };
}
