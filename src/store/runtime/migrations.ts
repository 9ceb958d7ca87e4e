// The schema of runtime.db, as the list of steps that built it. Steps are only ever added.

/** Step n migrates a file from version n to n + 1; the version is SQLite's `user_version`. */
export const RUNTIME_MIGRATIONS: readonly (readonly string[])[] = [
  [
    // Pairs of neighbouring CJK characters; fed from state.db and rebuildable from it at any time.
    "CREATE VIRTUAL TABLE cjk_grams USING fts5(grams, content='', contentless_delete=1, tokenize='ascii')",
    "CREATE TABLE cjk_state (id INTEGER PRIMARY KEY CHECK (id = 1), last_id INTEGER NOT NULL, last_timestamp REAL)",
    "INSERT INTO cjk_state(id, last_id) VALUES (1, 0)",
    `CREATE TABLE usage_ledger (
      id INTEGER PRIMARY KEY,
      at REAL NOT NULL,
      purpose TEXT NOT NULL,
      session_id TEXT,
      job_id TEXT,
      provider TEXT NOT NULL,
      model TEXT NOT NULL,
      base_url TEXT NOT NULL,
      input INTEGER NOT NULL,
      output INTEGER NOT NULL,
      cache_read INTEGER NOT NULL,
      cache_write INTEGER NOT NULL,
      reasoning INTEGER NOT NULL,
      usd REAL,
      cost_status TEXT NOT NULL,
      cost_source TEXT NOT NULL,
      pricing_version TEXT,
      duration_ms REAL NOT NULL,
      outcome TEXT NOT NULL
    )`,
    "CREATE INDEX usage_ledger_at ON usage_ledger(at, usd)",
    "CREATE INDEX usage_ledger_session ON usage_ledger(session_id, at, usd) WHERE session_id IS NOT NULL",
    "CREATE INDEX usage_ledger_job ON usage_ledger(job_id, at, usd) WHERE job_id IS NOT NULL",
  ],
  [
    `CREATE TABLE gateway_inbox (
      id INTEGER PRIMARY KEY,
      platform TEXT NOT NULL,
      account TEXT NOT NULL,
      chat_id TEXT NOT NULL,
      message_id TEXT NOT NULL,
      event TEXT NOT NULL,
      state TEXT NOT NULL,
      outcome TEXT,
      session_id TEXT,
      log_after INTEGER,
      attempts INTEGER NOT NULL DEFAULT 0,
      received_at INTEGER NOT NULL,
      done_at INTEGER,
      UNIQUE (platform, account, chat_id, message_id)
    )`,
    "CREATE INDEX gateway_inbox_open ON gateway_inbox(id) WHERE state <> 'done'",
    "CREATE INDEX gateway_inbox_received ON gateway_inbox(platform, received_at, message_id)",
    "CREATE INDEX gateway_inbox_done ON gateway_inbox(done_at) WHERE done_at IS NOT NULL",
    `CREATE TABLE gateway_outbox (
      id INTEGER PRIMARY KEY,
      key TEXT NOT NULL UNIQUE,
      platform TEXT NOT NULL,
      chat_id TEXT NOT NULL,
      thread_id TEXT,
      payload TEXT NOT NULL,
      ephemeral INTEGER NOT NULL,
      state TEXT NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0,
      mark TEXT,
      message_id TEXT,
      error TEXT,
      created_at INTEGER NOT NULL,
      done_at INTEGER
    )`,
    "CREATE INDEX gateway_outbox_open ON gateway_outbox(id) WHERE state IN ('queued', 'sending')",
    "CREATE INDEX gateway_outbox_done ON gateway_outbox(done_at) WHERE done_at IS NOT NULL",
    "CREATE INDEX gateway_outbox_sent ON gateway_outbox(platform, done_at, message_id) WHERE message_id IS NOT NULL",
    "CREATE TABLE gateway_memory (platform TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (platform, key)) WITHOUT ROWID",
  ],
  [
    // One row per occurrence of a scheduled job; the unique pair is the claim. Times are milliseconds.
    `CREATE TABLE cron_runs (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      job_id TEXT NOT NULL,
      job_name TEXT NOT NULL,
      occurrence INTEGER NOT NULL,
      until INTEGER NOT NULL,
      count INTEGER NOT NULL DEFAULT 1,
      trigger TEXT NOT NULL,
      state TEXT NOT NULL,
      reason TEXT,
      owner TEXT,
      lease_until INTEGER,
      claimed_at INTEGER NOT NULL,
      started_at INTEGER,
      ended_at INTEGER,
      session_id TEXT,
      document TEXT,
      delivery_error TEXT,
      alert TEXT NOT NULL DEFAULT 'none',
      alert_until INTEGER,
      settled INTEGER NOT NULL DEFAULT 0,
      UNIQUE (job_id, occurrence)
    )`,
    "CREATE INDEX cron_runs_open ON cron_runs(id) WHERE state = 'running'",
    "CREATE INDEX cron_runs_unsettled ON cron_runs(id) WHERE settled = 0",
    "CREATE INDEX cron_runs_alerts ON cron_runs(id) WHERE alert IN ('due', 'sending')",
    "CREATE INDEX cron_runs_ended ON cron_runs(ended_at)",
    `CREATE TABLE cron_tickers (
      owner TEXT PRIMARY KEY,
      started_at INTEGER NOT NULL,
      ticked_at INTEGER NOT NULL,
      trouble TEXT NOT NULL
    ) WITHOUT ROWID`,
  ],
  [
    // Values about single messages expire; values that a platform needs to continue do not. Milliseconds.
    "ALTER TABLE gateway_memory ADD COLUMN until INTEGER",
    `UPDATE gateway_memory SET until = (strftime('%s', 'now') + 31536000) * 1000
     WHERE platform = 'email' AND (key LIKE 'letter:%' OR key LIKE 'thread:%')`,
    "CREATE INDEX gateway_memory_until ON gateway_memory(until) WHERE until IS NOT NULL",
  ],
  [
    // Where the text of a message came from; only messages that are not the user's own have a row.
    `CREATE TABLE message_trust (
      id INTEGER PRIMARY KEY,
      session_id TEXT NOT NULL,
      message_id INTEGER,
      call_id TEXT,
      trust TEXT NOT NULL,
      origin TEXT,
      at REAL NOT NULL
    )`,
    "CREATE INDEX message_trust_session ON message_trust(session_id)",
    // Lasting changes that wait for the user: the call that would make them, and where its text came from.
    `CREATE TABLE proposals (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      what TEXT NOT NULL,
      summary TEXT NOT NULL,
      origin TEXT NOT NULL,
      tool TEXT NOT NULL,
      args TEXT NOT NULL,
      session_id TEXT NOT NULL,
      user_id TEXT,
      source TEXT NOT NULL,
      chat TEXT,
      workspace TEXT NOT NULL,
      state TEXT NOT NULL,
      result TEXT,
      created_at REAL NOT NULL,
      decided_at REAL
    )`,
    "CREATE INDEX proposals_open ON proposals(id) WHERE state = 'open'",
    // The decision about a cloned project, made when it was first seen or by the user.
    `CREATE TABLE project_trust (
      folder TEXT NOT NULL,
      remote TEXT NOT NULL,
      trusted INTEGER NOT NULL,
      decided_by TEXT NOT NULL,
      at REAL NOT NULL,
      PRIMARY KEY (folder, remote)
    ) WITHOUT ROWID`,
  ],
  [
    // Answers that are being streamed, in case that the process is killed. Milliseconds.
    `CREATE TABLE answer_drafts (
      session_id TEXT PRIMARY KEY,
      pid INTEGER NOT NULL,
      text TEXT NOT NULL,
      updated_at INTEGER NOT NULL
    ) WITHOUT ROWID`,
  ],
];
