// Opens the databases of a home: the session store and the ledger of model calls.
import { join } from "node:path";
import type { Home } from "../core/home.ts";
import type { ProjectDecisions } from "../core/project-trust.ts";
import type { Redactor } from "../core/redactor.ts";
import type { AnswerDrafts } from "../core/store/answer-draft.ts";
import type { ProposalStore } from "../core/store/proposals.ts";
import type { SessionIndex, SessionLog, SessionStore } from "../core/store/session.ts";
import type { TrustLog } from "../core/store/trust-log.ts";
import type { UsageLedger } from "../core/store/usage.ts";
import { privateDatabase } from "../home/home-layout.ts";
import { lazy } from "../lib/async/lazy.ts";
import { redactValue } from "../security/clean-arguments.ts";
import type { FullStore } from "../store/full-store.ts";

export interface OpenedLedger {
  readonly ledger: UsageLedger;
  close(): void;
}

export async function openLedger(home: Home): Promise<OpenedLedger> {
  const [{ openRuntimeDbOrView }, { createUsageLedger }] = await Promise.all([
    import("../store/runtime-db.ts"),
    import("../store/runtime/usage-ledger.ts"),
  ]);
  const opened: { close(): void }[] = [];
  const ledger = createUsageLedger(() => {
    const db = openRuntimeDbOrView(privateDatabase(home, "runtime.db"));
    opened.push(db);
    return db;
  });
  return {
    ledger,
    close: () => {
      for (const db of opened.splice(0)) db.close();
    },
  };
}

export interface OpenedReviewData {
  readonly trust: TrustLog;
  readonly proposals: ProposalStore;
  readonly projects: ProjectDecisions;
  close(): void;
}

/** The trust of messages and the proposed changes. Code and file are opened at the first use. */
export function openReviewData(
  home: Home,
  store: Pick<SessionStore, "toolResults" | "getMeta" | "ancestors">,
  redactor: Pick<Redactor, "redact">,
): OpenedReviewData {
  const opened: { close(): void }[] = [];
  const open = async () => {
    const { openRuntimeDbOrView } = await import("../store/runtime-db.ts");
    return () => {
      const db = openRuntimeDbOrView(privateDatabase(home, "runtime.db"));
      opened.push(db);
      return db;
    };
  };
  const log = lazy(async () => (await import("../store/runtime/trust-rows.ts")).createTrustLog(await open(), store));
  const rows = lazy(async () => (await import("../store/runtime/proposal-rows.ts")).createProposalStore(await open()));
  const projects = lazy(async () =>
    (await import("../store/runtime/project-rows.ts")).createProjectDecisions(await open()),
  );
  return {
    trust: {
      record: async (given) => {
        if (given.length === 0) return;
        const mask = (text: string | undefined) => (text === undefined ? undefined : redactor.redact(text));
        await (await log()).record(given.map((row) => ({ ...row, origin: mask(row.origin) })));
      },
      read: async (sessionId) => (await log()).read(sessionId),
    },
    proposals: {
      add: async (call, place) => (await rows()).add(redactValue(call, redactor) as typeof call, place),
      list: async (filter) => (await rows()).list(filter),
      find: async (id) => (await rows()).find(id),
      decide: async (id, state) => (await rows()).decide(id, state),
      fail: async (id, reason) => (await rows()).fail(id, reason),
      finish: async (id, result) => (await rows()).finish(id, result),
    },
    projects: {
      find: async (folder, remote) => (await projects()).find(folder, remote),
      record: async (folder, remote, decision) => (await projects()).record(folder, remote, decision),
    },
    close: () => {
      for (const db of opened.splice(0)) db.close();
    },
  };
}

/** Answers that are being streamed; the file is opened when the first one is kept. */
export async function openAnswerDrafts(home: Home): Promise<{ readonly drafts: AnswerDrafts; close(): void }> {
  const [{ openRuntimeDb }, { createAnswerDrafts }] = await Promise.all([
    import("../store/runtime-db.ts"),
    import("../store/runtime/answer-drafts.ts"),
  ]);
  const opened: { close(): void }[] = [];
  const drafts = createAnswerDrafts(() => {
    const db = openRuntimeDb(privateDatabase(home, "runtime.db"));
    opened.push(db);
    return db;
  });
  return {
    drafts,
    close: () => {
      for (const db of opened.splice(0)) db.close();
    },
  };
}

/** Runs the work with an open ledger and closes it afterwards. */
export async function withLedger<T>(home: Home, work: (ledger: UsageLedger) => Promise<T>): Promise<T> {
  const { ledger, close } = await openLedger(home);
  try {
    return await work(ledger);
  } finally {
    close();
  }
}

/** The session and those it was compacted from, oldest first. Branches and delegations are not followed. */
async function compactionChain(store: SessionLog & SessionIndex, sessionId: string): Promise<readonly string[]> {
  const chain = [sessionId];
  const parents = (await store.ancestors(sessionId)).slice(0, -1).reverse();
  for (const id of parents) {
    if ((await store.getSession(id))?.end_reason !== "compression") break;
    chain.unshift(id);
  }
  return chain;
}

/** A ledger that adds the spending of a session's compaction chain to the session. */
export function ledgerByConversation(ledger: UsageLedger, store: SessionLog & SessionIndex): UsageLedger {
  // A chain with a parent never changes; a session without a parent may not be stored yet.
  const known = new Map<string, readonly string[]>();
  const chainIds = async (sessionId: string) => {
    const found = known.get(sessionId) ?? (await compactionChain(store, sessionId));
    if (found.length > 1) known.set(sessionId, found);
    return found;
  };
  return {
    record: (entry) => ledger.record(entry),
    report: (options) => ledger.report(options),
    spent: async (filter) => {
      const { sessionId } = filter;
      return ledger.spent(typeof sessionId === "string" ? { ...filter, sessionId: await chainIds(sessionId) } : filter);
    },
  };
}

export interface OpenStoreOptions {
  /** `worker` for long-running processes: their event loop never waits for the disk. */
  readonly host?: "in-process" | "worker" | undefined;
  /** A database elsewhere instead of the home's `state.db`. */
  readonly database?: string | undefined;
  /** `sessions.index`, when the configuration is already loaded. */
  readonly indexLayout?: "inline" | "compact" | undefined;
  /** Receives notices for the user, for example about degraded storage or damaged indexes. */
  onNotice?(text: string): void;
}

async function indexLayout(home: Home): Promise<"inline" | "compact"> {
  const { openSettings } = await import("../config/api.ts");
  return (await openSettings(home).inspect()).config.sessions.index;
}

/** Folder of session transcripts, which are removed together with their session. */
export function sessionsDir(home: Home): string {
  return join(home.path, "sessions");
}

export async function openHomeStore(home: Home, options: OpenStoreOptions = {}): Promise<FullStore> {
  const { openSessionStore } = await import("../store/open.ts");
  return openSessionStore({
    // The side index in runtime.db describes the home's own database.
    path: options.database ?? privateDatabase(home, "state.db"),
    runtimePath: options.database === undefined ? privateDatabase(home, "runtime.db") : undefined,
    host: options.host ?? "in-process",
    indexLayout: options.indexLayout ?? (await indexLayout(home)),
    ...(options.onNotice ? { onNotice: options.onNotice } : {}),
  });
}

/** Opens the state.db of another home, read-only. */
export async function openForeignStore(path: string): Promise<SessionStore> {
  const { openSessionStore } = await import("../store/open.ts");
  return openSessionStore({ path, host: "in-process", readOnly: true });
}
