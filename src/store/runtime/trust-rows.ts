// The trust of stored messages, in runtime.db.
import type { SessionIndex, SessionLog, ToolResultRow } from "../../core/store/session.ts";
import type { TrustLog, TrustRow } from "../../core/store/trust-log.ts";
import { lessTrusted, OWN, type Provenance, type Trust, trustByToolName } from "../../core/trust.ts";
import { type Database, immediate } from "../sqlite/connection/driver.ts";
import { retryLocked } from "./retry-locked.ts";

const INSERT =
  "INSERT INTO message_trust(session_id, message_id, call_id, trust, origin, at) VALUES (?, ?, ?, ?, ?, ?)";

interface StoredTrust {
  readonly session_id: string;
  readonly message_id: number | null;
  readonly call_id: string | null;
  readonly trust: Trust;
  readonly origin: string | null;
}

type Sessions = Pick<SessionLog, "toolResults" | "getMeta"> & Pick<SessionIndex, "ancestors">;

/** Earlier versions kept one origin for each conversation in state.db. */
async function olderRecord(store: Sessions, lineage: readonly string[]): Promise<Provenance> {
  for (const id of lineage) {
    const origin = await store.getMeta(`outside:${id}`);
    if (origin) return { trust: "untrusted", origin };
  }
  return OWN;
}

/** A compaction or branch copies results into another session; the copy keeps the id of the call. */
function isCopy(result: ToolResultRow, rows: readonly StoredTrust[]): boolean {
  const { tool_call_id: callId, session_id: sessionId } = result;
  return callId !== null && rows.some((row) => row.call_id === callId && row.session_id !== sessionId);
}

/** `open` is called at the first use, so that a conversation without such text never opens the file. */
export function createTrustLog(open: () => Database, store: Sessions): TrustLog {
  let opened: Database | undefined;
  const db = () => {
    opened ??= open();
    return opened;
  };
  const rowsOf = (lineage: readonly string[]) =>
    retryLocked(() =>
      db()
        .prepare<StoredTrust>(
          `SELECT session_id, message_id, call_id, trust, origin FROM message_trust
           WHERE session_id IN (SELECT value FROM json_each(?)) ORDER BY id`,
        )
        .all(JSON.stringify(lineage)),
    );
  return {
    async record(rows: readonly TrustRow[]) {
      if (rows.length === 0) return;
      const at = Date.now() / 1000;
      await retryLocked(() =>
        immediate(db(), () => {
          const insert = db().prepare(INSERT);
          for (const { sessionId, messageId, callId, trust, origin } of rows)
            insert.run(sessionId, messageId, callId ?? null, trust, origin ?? null, at);
        }),
      );
    },
    async read(sessionId) {
      const chain = await store.ancestors(sessionId);
      const lineage = chain.length > 0 ? chain : [sessionId];
      const [rows, results] = await Promise.all([rowsOf(lineage), store.toolResults(lineage)]);
      let worst = await olderRecord(store, lineage);
      for (const { trust, origin } of rows) worst = lessTrusted(worst, { trust, origin: origin ?? undefined });
      const ids = new Set(rows.map((row) => row.message_id));
      for (const result of results)
        if (!ids.has(result.id) && !isCopy(result, rows)) worst = lessTrusted(worst, trustByToolName(result.tool_name));
      return worst;
    },
  };
}
