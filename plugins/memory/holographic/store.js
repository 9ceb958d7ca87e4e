// Facts in SQLite. The tables are those of Hermes Agent v0.14; where a fact came from and what replaced it stand beside.

const SCHEMA = `
CREATE TABLE IF NOT EXISTS facts (
  fact_id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL UNIQUE, category TEXT DEFAULT 'general',
  tags TEXT DEFAULT '', trust_score REAL DEFAULT 0.5, retrieval_count INTEGER DEFAULT 0,
  helpful_count INTEGER DEFAULT 0, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, hrr_vector BLOB);
CREATE TABLE IF NOT EXISTS entities (
  entity_id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, entity_type TEXT DEFAULT 'unknown',
  aliases TEXT DEFAULT '', created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE IF NOT EXISTS fact_entities (
  fact_id INTEGER REFERENCES facts(fact_id), entity_id INTEGER REFERENCES entities(entity_id),
  PRIMARY KEY (fact_id, entity_id));
CREATE INDEX IF NOT EXISTS idx_facts_trust ON facts(trust_score DESC);
CREATE INDEX IF NOT EXISTS idx_facts_category ON facts(category);
CREATE INDEX IF NOT EXISTS idx_entities_name ON entities(name);
CREATE VIRTUAL TABLE IF NOT EXISTS facts_fts USING fts5(content, tags, content=facts, content_rowid=fact_id);
CREATE TRIGGER IF NOT EXISTS facts_ai AFTER INSERT ON facts BEGIN
  INSERT INTO facts_fts(rowid, content, tags) VALUES (new.fact_id, new.content, new.tags); END;
CREATE TRIGGER IF NOT EXISTS facts_ad AFTER DELETE ON facts BEGIN
  INSERT INTO facts_fts(facts_fts, rowid, content, tags) VALUES ('delete', old.fact_id, old.content, old.tags); END;
CREATE TRIGGER IF NOT EXISTS facts_au AFTER UPDATE ON facts BEGIN
  INSERT INTO facts_fts(facts_fts, rowid, content, tags) VALUES ('delete', old.fact_id, old.content, old.tags);
  INSERT INTO facts_fts(rowid, content, tags) VALUES (new.fact_id, new.content, new.tags); END;
CREATE TABLE IF NOT EXISTS memory_banks (
  bank_id INTEGER PRIMARY KEY AUTOINCREMENT, bank_name TEXT NOT NULL UNIQUE, vector BLOB NOT NULL,
  dim INTEGER NOT NULL, fact_count INTEGER DEFAULT 0, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE IF NOT EXISTS fact_details (
  fact_id INTEGER PRIMARY KEY REFERENCES facts(fact_id), source TEXT NOT NULL DEFAULT '',
  observed_at TEXT NOT NULL, last_used_at TEXT, superseded_by INTEGER);
CREATE INDEX IF NOT EXISTS idx_fact_details_superseded ON fact_details(superseded_by);
`;

const COLUMNS = `f.fact_id, f.content, f.category, f.tags, f.trust_score AS trust, f.retrieval_count, f.helpful_count,
  f.created_at, f.updated_at, d.source, d.observed_at, d.superseded_by`;
const FROM = "facts f LEFT JOIN fact_details d ON d.fact_id = f.fact_id";
/** A replaced fact stays readable, and sinks below what v0.14 recalls. */
const SUPERSEDED_TRUST = 0.1;
const COMMON_WORDS = new Set(
  "a about an and any are as at be been but by can did do does for from had has have he her his how i in is it its me my not of on or our she so that the their them there they this to us was we were what when where which who why will with you your".split(
    " ",
  ),
);

/** Words that say something; all of them when none does. */
export function contentWords(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const telling = words.filter((word) => !COMMON_WORDS.has(word));
  return [...new Set(telling.length > 0 ? telling : words)];
}

/** Names in a text: what is quoted, and capitalised words that do not merely begin a sentence. */
export function entitiesIn(text) {
  const names = new Set();
  for (const [, double, curly] of text.matchAll(/"([^"\n]{2,80})"|“([^”\n]{2,80})”/g)) names.add(double ?? curly);
  for (const match of text.matchAll(/\p{Lu}[\p{L}\p{N}_.-]*(?:\s+\p{Lu}[\p{L}\p{N}_.-]*)*/gu)) {
    const name = match[0].replace(/[.,]+$/, "");
    const begins = /(^|[.!?]\s+)$/.test(text.slice(0, match.index));
    if (name.length > 1 && (!begins || /\s|\p{Lu}.*\p{Lu}/u.test(name))) names.add(name);
  }
  return [...names].slice(0, 12);
}

function clamp(value) {
  return Math.min(1, Math.max(0, value));
}

function overlap(a, b) {
  const one = new Set(contentWords(a));
  const other = contentWords(b);
  const shared = other.filter((word) => one.has(word)).length;
  return shared / (one.size + other.length - shared || 1);
}

export class FactStore {
  /**
   * @param {import("hermes-ts/plugin").PluginDatabase} db
   * @param {{ defaultTrust: number }} options
   */
  constructor(db, options) {
    this.db = db;
    this.defaultTrust = clamp(options.defaultTrust);
    db.exec(SCHEMA);
  }

  count() {
    return Number(this.db.get("SELECT COUNT(*) AS total FROM facts")?.total ?? 0);
  }

  /** Adds a fact, or finds the same words again. `supersedes` names the fact that this one replaces. */
  add(content, details = {}) {
    const text = content.trim();
    if (text === "") throw new Error("content must not be empty");
    const { category = "general", tags = "", source = "", supersedes } = details;
    return this.db.transaction(() => {
      const known = this.db.get("SELECT fact_id FROM facts WHERE content = ?", text);
      const id = known ? Number(known.fact_id) : this.#insert(text, { category, tags, source });
      if (supersedes !== undefined && supersedes !== id) this.#supersede(supersedes, id);
      // Said again: it holds again.
      if (known)
        this.db.run("UPDATE fact_details SET superseded_by = NULL, observed_at = ? WHERE fact_id = ?", now(), id);
      return { factId: id, known: Boolean(known) };
    });
  }

  #insert(text, { category, tags, source }) {
    const sql = "INSERT INTO facts (content, category, tags, trust_score) VALUES (?, ?, ?, ?)";
    const id = Number(this.db.run(sql, text, category, tags, this.defaultTrust).lastInsertRowid);
    this.db.run("INSERT INTO fact_details (fact_id, source, observed_at) VALUES (?, ?, ?)", id, source, now());
    for (const name of entitiesIn(text)) this.#link(id, name);
    return id;
  }

  #link(factId, name) {
    const known = this.db.get("SELECT entity_id FROM entities WHERE name = ? COLLATE NOCASE", name);
    const id = known
      ? Number(known.entity_id)
      : this.db.run("INSERT INTO entities (name) VALUES (?)", name).lastInsertRowid;
    this.db.run("INSERT OR IGNORE INTO fact_entities (fact_id, entity_id) VALUES (?, ?)", factId, Number(id));
  }

  #supersede(oldId, newId) {
    const old = this.db.get("SELECT created_at FROM facts WHERE fact_id = ?", oldId);
    if (!old) return;
    this.db.run(
      `INSERT INTO fact_details (fact_id, observed_at, superseded_by) VALUES (?, ?, ?)
       ON CONFLICT(fact_id) DO UPDATE SET superseded_by = excluded.superseded_by`,
      oldId,
      String(old.created_at),
      newId,
    );
    this.db.run("UPDATE facts SET trust_score = MIN(trust_score, ?) WHERE fact_id = ?", SUPERSEDED_TRUST, oldId);
  }

  /** Best match first; of equals the more trusted, then the newer. Replaced facts are left out unless asked for. */
  search(query, { category, minTrust = 0.3, limit = 10, history = false } = {}) {
    const words = contentWords(query);
    if (words.length === 0) return [];
    const match = words.map((word) => `"${word}"`).join(" OR ");
    const rows = this.db.all(
      `SELECT ${COLUMNS}, bm25(facts_fts) * (0.5 + f.trust_score) AS score FROM facts_fts
       JOIN facts f ON f.fact_id = facts_fts.rowid LEFT JOIN fact_details d ON d.fact_id = f.fact_id
       WHERE facts_fts MATCH ? AND f.trust_score >= ? AND (? OR d.superseded_by IS NULL) AND (? = '' OR f.category = ?)
       ORDER BY score, COALESCE(d.observed_at, f.created_at) DESC LIMIT ?`,
      match,
      history ? 0 : minTrust,
      history ? 1 : 0,
      category ?? "",
      category ?? "",
      limit,
    );
    return this.#used(rows);
  }

  #used(rows) {
    const at = now();
    this.db.transaction(() => {
      for (const row of rows) {
        this.db.run("UPDATE facts SET retrieval_count = retrieval_count + 1 WHERE fact_id = ?", row.fact_id);
        this.db.run("UPDATE fact_details SET last_used_at = ? WHERE fact_id = ?", at, row.fact_id);
      }
    });
    return rows.map(({ score: _, ...row }) => row);
  }

  /** Facts about one thing, or about all of several. Falls back to words when nothing goes by that name. */
  about(names, { category, limit = 10 } = {}) {
    const marks = names.map(() => "?").join(", ");
    const rows = this.db.all(
      `SELECT ${COLUMNS} FROM ${FROM} JOIN fact_entities l ON l.fact_id = f.fact_id
       JOIN entities e ON e.entity_id = l.entity_id
       WHERE e.name COLLATE NOCASE IN (${marks}) AND d.superseded_by IS NULL AND (? = '' OR f.category = ?)
       GROUP BY f.fact_id HAVING COUNT(DISTINCT e.entity_id) >= ? ORDER BY f.trust_score DESC, f.fact_id DESC LIMIT ?`,
      ...names,
      category ?? "",
      category ?? "",
      names.length,
      limit,
    );
    if (rows.length > 0) return this.#used(rows);
    const found = this.search(names.join(" "), { category, limit });
    return found.filter((row) => names.every((name) => row.content.toLowerCase().includes(name.toLowerCase())));
  }

  /** What is mentioned together with a thing. */
  related(name, { limit = 10 } = {}) {
    return this.db.all(
      `SELECT other.name AS entity, COUNT(*) AS facts FROM entities e JOIN fact_entities l ON l.entity_id = e.entity_id
       JOIN fact_entities o ON o.fact_id = l.fact_id AND o.entity_id <> l.entity_id
       JOIN entities other ON other.entity_id = o.entity_id WHERE e.name = ? COLLATE NOCASE
       GROUP BY other.entity_id ORDER BY facts DESC, other.name LIMIT ?`,
      name,
      limit,
    );
  }

  /** Pairs that speak of the same thing in nearly the same words: one of them may be out of date. */
  conflicts({ category, limit = 10 } = {}) {
    const rows = this.db.all(
      `SELECT a.fact_id AS older, b.fact_id AS newer, a.content AS older_content, b.content AS newer_content
       FROM fact_entities x JOIN fact_entities y ON y.entity_id = x.entity_id AND y.fact_id > x.fact_id
       JOIN facts a ON a.fact_id = x.fact_id JOIN facts b ON b.fact_id = y.fact_id
       LEFT JOIN fact_details d ON d.fact_id = a.fact_id
       WHERE d.superseded_by IS NULL AND (? = '' OR a.category = ?) GROUP BY a.fact_id, b.fact_id LIMIT 2000`,
      category ?? "",
      category ?? "",
    );
    return rows.filter((row) => overlap(row.older_content, row.newer_content) >= 0.3).slice(0, limit);
  }

  /** New words are a new fact that replaces the old one, so that the old one can still be looked up. */
  update(factId, { content, category, tags, trustDelta, source = "" }) {
    const row = this.db.get("SELECT content, category, tags, trust_score FROM facts WHERE fact_id = ?", factId);
    if (!row) return undefined;
    if (trustDelta !== undefined) this.#trust(factId, clamp(row.trust_score + trustDelta));
    this.db.run(
      "UPDATE facts SET category = ?, tags = ?, updated_at = CURRENT_TIMESTAMP WHERE fact_id = ?",
      category ?? row.category,
      tags ?? row.tags,
      factId,
    );
    if (!content || content.trim() === row.content) return factId;
    const details = { category: category ?? row.category, tags: tags ?? row.tags, source, supersedes: factId };
    return this.add(content, details).factId;
  }

  #trust(factId, trust) {
    this.db.run("UPDATE facts SET trust_score = ?, updated_at = CURRENT_TIMESTAMP WHERE fact_id = ?", trust, factId);
  }

  /** Good facts rise, bad facts sink faster. */
  feedback(factId, helpful) {
    const row = this.db.get("SELECT trust_score FROM facts WHERE fact_id = ?", factId);
    if (!row) return undefined;
    const trust = clamp(row.trust_score + (helpful ? 0.05 : -0.1));
    this.#trust(factId, trust);
    if (helpful) this.db.run("UPDATE facts SET helpful_count = helpful_count + 1 WHERE fact_id = ?", factId);
    return trust;
  }

  remove(factId) {
    return this.db.transaction(() => {
      this.db.run("DELETE FROM fact_entities WHERE fact_id = ?", factId);
      this.db.run("DELETE FROM fact_details WHERE fact_id = ?", factId);
      return this.db.run("DELETE FROM facts WHERE fact_id = ?", factId).changes > 0;
    });
  }

  list({ category, minTrust = 0, limit = 10 } = {}) {
    return this.db.all(
      `SELECT ${COLUMNS} FROM ${FROM} WHERE f.trust_score >= ? AND (? = '' OR f.category = ?)
       ORDER BY f.trust_score DESC, f.fact_id DESC LIMIT ?`,
      minTrust,
      category ?? "",
      category ?? "",
      limit,
    );
  }
}

function now() {
  return new Date().toISOString();
}
