// The ledger of scheduled jobs in runtime.db: one row per occurrence, one owner, one end.
import { UserError } from "../../core/failure.ts";
import type { JobLedger, JobRun, RunClaim, TickerHeartbeat } from "../../core/job.ts";
import { sqliteCode } from "../../lib/sqlite-error.ts";
import { type Database, immediate, type SqlValue } from "../sqlite/connection/driver.ts";
import { LockRetry } from "../sqlite/connection/lock-retry.ts";

interface Row {
  readonly id: number;
  readonly job_id: string;
  readonly job_name: string;
  readonly occurrence: number;
  readonly until: number;
  readonly count: number;
  readonly trigger: string;
  readonly state: string;
  readonly reason: string | null;
  readonly owner: string | null;
  readonly lease_until: number | null;
  readonly claimed_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly session_id: string | null;
  readonly document: string | null;
  readonly delivery_error: string | null;
  readonly alert: string;
}

function readRun(row: Row): JobRun {
  return {
    id: row.id,
    jobId: row.job_id,
    jobName: row.job_name,
    occurrence: row.occurrence,
    until: row.until,
    count: row.count,
    trigger: row.trigger as JobRun["trigger"],
    state: row.state as JobRun["state"],
    reason: row.reason,
    owner: row.owner,
    claimedAt: row.claimed_at,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    sessionId: row.session_id,
    document: row.document,
    deliveryError: row.delivery_error,
    alert: row.alert as JobRun["alert"],
  };
}

const INSERT_MISSED = `INSERT INTO cron_runs(job_id, job_name, occurrence, until, count, trigger, state, reason,
  claimed_at, ended_at, alert, settled) VALUES (?, ?, ?, ?, ?, 'schedule', 'skipped', ?, ?, ?, ?, 0)
  ON CONFLICT (job_id, occurrence) DO NOTHING`;

const INSERT_RUN = `INSERT INTO cron_runs(job_id, job_name, occurrence, until, trigger, state, owner, lease_until,
  claimed_at, settled) VALUES (?, ?, ?, ?, ?, 'running', ?, ?, ?, 0) ON CONFLICT (job_id, occurrence) DO NOTHING`;

const FINISH = `UPDATE cron_runs SET state = ?, reason = ?, ended_at = ?, session_id = ?, document = ?,
  delivery_error = ?, alert = ?, lease_until = NULL WHERE id = ? AND owner = ? AND state = 'running'`;

const ABANDON = `UPDATE cron_runs SET state = 'abandoned', reason = ?, ended_at = ?, alert = 'due', lease_until = NULL
  WHERE id = ? AND state = 'running'`;

const DUE_ALERTS = "SELECT * FROM cron_runs WHERE alert = 'due' OR (alert = 'sending' AND alert_until < ?) ORDER BY id";

function writeClaim(db: Database, claim: RunClaim): number | null {
  const { job, now, run } = claim;
  for (const missed of claim.missed ?? []) {
    const { occurrence, until, count, reason } = missed;
    const alert = missed.alert ? "due" : "none";
    db.prepare(INSERT_MISSED).run(job.id, job.name, occurrence, until, count, reason, now, now, alert);
  }
  if (!run) return null;
  const lease = now + claim.leaseMs;
  const values = [job.id, job.name, run.occurrence, run.occurrence, run.trigger, claim.owner, lease, now];
  const { changes, lastInsertRowid } = db.prepare(INSERT_RUN).run(...values);
  return changes === 1 ? Number(lastInsertRowid) : null;
}

function rowsAhead(db: Database, jobId: string, now: number): Row[] {
  const sql = `SELECT * FROM cron_runs WHERE job_id = ? AND occurrence > ? AND trigger <> 'manual'
    AND state <> 'running' ORDER BY occurrence DESC`;
  return db.prepare<Row>(sql).all(jobId, now);
}

function releaseAhead(db: Database, jobId: string, now: number): void {
  const move = db.prepare("UPDATE OR IGNORE cron_runs SET occurrence = ?, until = MAX(until, ?) WHERE id = ?");
  for (const row of rowsAhead(db, jobId, now)) {
    // A change of the clock may have left another row there.
    for (let at = row.occurrence + 1; move.run(at, at, row.id).changes === 0; at++);
  }
}

type Retry = <T>(body: () => T) => Promise<T>;

function takeAlerts(db: Database, now: number, leaseMs: number): Row[] {
  const rows = db.prepare<Row>(DUE_ALERTS).all(now);
  const take = db.prepare("UPDATE cron_runs SET alert = 'sending', alert_until = ? WHERE id = ?");
  for (const row of rows) take.run(now + leaseMs, row.id);
  return rows;
}

/** Operations on the rows of active runs. */
function runCalls(db: () => Database, retry: Retry) {
  return {
    claim: (claim) => retry(() => immediate(db(), () => writeClaim(db(), claim))),
    started: async (id, owner, now) => {
      const sql = "UPDATE cron_runs SET started_at = ? WHERE id = ? AND owner = ? AND state = 'running'";
      return (await retry(() => db().prepare(sql).run(now, id, owner))).changes === 1;
    },
    takeOver: async (run, owner, leaseUntil) => {
      const sql = `UPDATE cron_runs SET owner = ?, lease_until = ?, started_at = NULL
        WHERE id = ? AND owner IS ? AND state = 'running' AND started_at IS ?`;
      const values = [owner, leaseUntil, run.id, run.owner, run.startedAt];
      return (
        (
          await retry(() =>
            db()
              .prepare(sql)
              .run(...values),
          )
        ).changes === 1
      );
    },
    ahead: async (jobId, now) => (await retry(() => rowsAhead(db(), jobId, now))).map(readRun),
    releaseAhead: async (jobId, now) => {
      await retry(() => immediate(db(), () => releaseAhead(db(), jobId, now)));
    },
    renew: async (id, owner, leaseUntil) => {
      const sql = "UPDATE cron_runs SET lease_until = ? WHERE id = ? AND owner = ? AND state = 'running'";
      return (await retry(() => db().prepare(sql).run(leaseUntil, id, owner))).changes === 1;
    },
    finish: async (id, owner, outcome) => {
      const { state, now, reason, sessionId, document, deliveryError, reported } = outcome;
      const texts = [sessionId, document, deliveryError].map((text) => text ?? null);
      const values: SqlValue[] = [state, reason ?? null, now, ...texts, reported ? "none" : "due", id, owner];
      const { changes } = await retry(() =>
        db()
          .prepare(FINISH)
          .run(...values),
      );
      return changes === 1;
    },
    open: async () => {
      const rows = await retry(() => db().prepare<Row>("SELECT * FROM cron_runs WHERE state = 'running'").all());
      return rows.map((row) => ({ ...readRun(row), leaseUntil: row.lease_until ?? 0 }));
    },
    abandon: async (id, now, reason) => (await retry(() => db().prepare(ABANDON).run(reason, now, id))).changes === 1,
  } satisfies Partial<JobLedger>;
}

/** Operations on the rows of ended runs. */
function afterCalls(db: () => Database, retry: Retry) {
  return {
    unsettled: async () => {
      const sql = "SELECT * FROM cron_runs WHERE settled = 0 AND state <> 'running' ORDER BY id";
      return (await retry(() => db().prepare<Row>(sql).all())).map(readRun);
    },
    settle: async (ids) => {
      await retry(() =>
        immediate(db(), () => {
          for (const id of ids) db().prepare("UPDATE cron_runs SET settled = 1 WHERE id = ?").run(id);
        }),
      );
    },
    takeAlerts: async (now, leaseMs) => {
      if ((await retry(() => db().prepare<Row>(DUE_ALERTS).all(now))).length === 0) return [];
      return (await retry(() => immediate(db(), () => takeAlerts(db(), now, leaseMs)))).map(readRun);
    },
    alertSent: async (id, deliveryError) => {
      const sql = `UPDATE cron_runs SET alert = 'sent', alert_until = NULL,
        delivery_error = COALESCE(?, delivery_error) WHERE id = ?`;
      await retry(() =>
        db()
          .prepare(sql)
          .run(deliveryError ?? null, id),
      );
    },
    history: async ({ jobId, limit }) => {
      const where = jobId === undefined ? "" : "WHERE job_id = ?";
      const sql = `SELECT * FROM cron_runs ${where} ORDER BY id DESC LIMIT ?`;
      const values: SqlValue[] = jobId === undefined ? [limit] : [jobId, limit];
      const rows = await retry(() =>
        db()
          .prepare<Row>(sql)
          .all(...values),
      );
      return rows.map(readRun);
    },
    prune: async (before) => {
      await retry(() => db().prepare("DELETE FROM cron_tickers WHERE ticked_at < ?").run(before));
      const sql = "DELETE FROM cron_runs WHERE ended_at < ? AND settled = 1 AND alert NOT IN ('due', 'sending')";
      return (await retry(() => db().prepare(sql).run(before))).changes;
    },
  } satisfies Partial<JobLedger>;
}

function tickerCalls(db: () => Database, retry: Retry) {
  return {
    recordHeartbeat: async (heartbeat) => {
      const sql = `INSERT INTO cron_tickers(owner, started_at, ticked_at, trouble) VALUES (?, ?, ?, ?)
        ON CONFLICT (owner) DO UPDATE SET ticked_at = excluded.ticked_at, trouble = excluded.trouble`;
      await retry(() =>
        db().prepare(sql).run(heartbeat.owner, heartbeat.startedAt, heartbeat.tickedAt, heartbeat.failure),
      );
    },
    removeHeartbeat: async (owner) => {
      await retry(() => db().prepare("DELETE FROM cron_tickers WHERE owner = ?").run(owner));
    },
    listHeartbeats: () =>
      retry(() =>
        db()
          .prepare<TickerHeartbeat>(
            `SELECT owner, started_at AS startedAt, ticked_at AS tickedAt, trouble AS failure FROM cron_tickers
             ORDER BY ticked_at DESC`,
          )
          .all(),
      ),
  } satisfies Partial<JobLedger>;
}

/** `open` is called at first use, so that a program that never asks never opens the file. */
export function createCronLedger(open: () => Database): JobLedger {
  let opened: Database | undefined;
  let lockRetry: LockRetry | undefined;
  const db = () => {
    opened ??= open();
    return opened;
  };
  const retry: Retry = async (body) => {
    lockRetry ??= new LockRetry(db().path);
    try {
      return await lockRetry.retry(body);
    } catch (error) {
      if (!sqliteCode(error)?.startsWith("SQLITE_READONLY")) throw error;
      throw new UserError("This home is read-only: jobs can be looked at, but not run.", {
        hint: `Make ${db().path} and its folder writable.`,
        cause: error,
      });
    }
  };
  return {
    ...runCalls(db, retry),
    ...afterCalls(db, retry),
    ...tickerCalls(db, retry),
    close: () => {
      opened?.close();
      opened = undefined;
    },
  };
}
