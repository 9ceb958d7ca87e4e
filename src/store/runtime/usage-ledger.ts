// The durable record of what every model call cost, in runtime.db.
import {
  ASSUMED_PRICE,
  type LedgerEntry,
  type SpendFilter,
  type UsageGroup,
  type UsageLedger,
} from "../../core/store/usage.ts";
import type { Database, SqlValue } from "../sqlite/connection/driver.ts";
import { retryLocked } from "./retry-locked.ts";

const INSERT = `INSERT INTO usage_ledger(at, purpose, session_id, job_id, provider, model, base_url, input, output,
  cache_read, cache_write, reasoning, usd, cost_status, cost_source, pricing_version, duration_ms, outcome)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const GROUP_KEYS = {
  model: "model",
  purpose: "purpose",
  session: "COALESCE(session_id, '')",
  day: "date(at, 'unixepoch', 'localtime')",
} as const;

interface GroupRow {
  readonly key: string;
  readonly calls: number;
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly reasoning: number;
  readonly usd: number | null;
  readonly unpriced: number;
  readonly assumed: number | null;
}

function rowValues(entry: LedgerEntry): SqlValue[] {
  const { usage, cost } = entry;
  return [
    ...[entry.at, entry.purpose, entry.sessionId, entry.jobId, entry.provider, entry.model, entry.baseUrl],
    ...[usage.input, usage.output, usage.cacheRead, usage.cacheWrite, usage.reasoning],
    ...[cost.usd, cost.status, cost.source, cost.pricingVersion ?? null, entry.durationMs, entry.outcome],
  ];
}

/** One row, in the caller's transaction. */
export function insertUsage(db: Database, entry: LedgerEntry): void {
  db.prepare(INSERT).run(...rowValues(entry));
}

/**
 * A row about spending survives the end of the process without a sync; only a power failure may take the newest ones.
 * Every model call writes one, and the sync would cost more than the rest of a tool call.
 */
function writeWithoutSync(db: Database, write: (db: Database) => void): void {
  db.pragma("synchronous = NORMAL");
  try {
    write(db);
  } finally {
    db.pragma("synchronous = FULL");
  }
}

/** `open` is called at first use, so that a run without a model call never opens the file. */
export function createUsageLedger(open: () => Database): UsageLedger {
  let opened: Database | undefined;
  const db = () => {
    opened ??= open();
    return opened;
  };
  return {
    async record(entry) {
      await retryLocked(() => writeWithoutSync(db(), (open) => insertUsage(open, entry)));
    },
    async spent(filter) {
      const { where, values } = buildConditions(filter);
      const sql = `SELECT SUM(usd) AS usd FROM usage_ledger ${where}`;
      const row = await retryLocked(() =>
        db()
          .prepare<{ usd: number | null }>(sql)
          .get(...values),
      );
      return row?.usd ?? 0;
    },
    async report({ since, by, sessionIds }) {
      const only = sessionIds === undefined ? "" : "AND session_id IN (SELECT value FROM json_each(?))";
      const values = sessionIds === undefined ? [since] : [since, JSON.stringify(sessionIds)];
      const sql = `SELECT ${GROUP_KEYS[by]} AS key, COUNT(*) AS calls, SUM(input) AS input, SUM(output) AS output,
        SUM(cache_read) AS cache_read, SUM(cache_write) AS cache_write, SUM(reasoning) AS reasoning,
        SUM(usd) AS usd, SUM(usd IS NULL) AS unpriced,
        SUM(CASE WHEN cost_source = '${ASSUMED_PRICE}' THEN usd ELSE 0 END) AS assumed
        FROM usage_ledger WHERE at >= ? ${only} GROUP BY 1 ORDER BY ${by === "day" ? "1" : "SUM(usd) DESC, COUNT(*) DESC, 1"}`;
      const rows = await retryLocked(() =>
        db()
          .prepare<GroupRow>(sql)
          .all(...values),
      );
      return rows.map(readGroup);
    },
  };
}

function buildConditions(filter: SpendFilter): { where: string; values: SqlValue[] } {
  const conditions: string[] = [];
  const values: SqlValue[] = [];
  if (filter.sessionId !== undefined) {
    const ids = typeof filter.sessionId === "string" ? [filter.sessionId] : filter.sessionId;
    conditions.push(`session_id IN (${ids.map(() => "?").join(", ")})`);
    values.push(...ids);
  }
  if (filter.jobId !== undefined) {
    conditions.push("job_id = ?");
    values.push(filter.jobId);
  }
  if (filter.since !== undefined) {
    conditions.push("at >= ?");
    values.push(filter.since);
  }
  return { where: conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "", values };
}

function readGroup(row: GroupRow): UsageGroup {
  return {
    key: row.key,
    calls: row.calls,
    usage: {
      input: row.input,
      output: row.output,
      cacheRead: row.cache_read,
      cacheWrite: row.cache_write,
      reasoning: row.reasoning,
    },
    usd: row.usd ?? 0,
    unpriced: row.unpriced,
    assumedUsd: row.assumed ?? 0,
  };
}
