// The schema of runtime.db, as the list of steps that built it. Steps are only ever added.

/** Step n brings a file from version n to n + 1; the version is SQLite's `user_version`. */
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
];
