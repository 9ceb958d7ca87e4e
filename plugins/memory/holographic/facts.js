// Facts in SQLite. The table `facts` is shared with Hermes Agent v0.14; further tables hold the source of a fact, its
// replacement, and the words and names by which it is found.
import { nameKey, namesIn, wordsOf } from "./words.js";

const SHARED = `CREATE TABLE IF NOT EXISTS facts (
  fact_id INTEGER PRIMARY KEY AUTOINCREMENT,
  content TEXT NOT NULL UNIQUE,
  category TEXT DEFAULT 'general',
  tags TEXT DEFAULT '',
  trust_score REAL DEFAULT 0.5,
  retrieval_count INTEGER DEFAULT 0,
  helpful_count INTEGER DEFAULT 0,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
  hrr_vector BLOB
)`;

const OURS = [
  `CREATE TABLE IF NOT EXISTS fact_notes (
    fact_id INTEGER PRIMARY KEY,
    source TEXT NOT NULL,
    said_at TEXT NOT NULL,
    used_at TEXT,
    replaced_by INTEGER,
    read_as TEXT NOT NULL
  )`,
  "CREATE TABLE IF NOT EXISTS fact_words (word TEXT, fact_id INTEGER, PRIMARY KEY (word, fact_id)) WITHOUT ROWID",
  "CREATE INDEX IF NOT EXISTS fact_words_by_fact ON fact_words (fact_id)",
  `CREATE TABLE IF NOT EXISTS fact_names (
    name_key TEXT, fact_id INTEGER, name TEXT NOT NULL, PRIMARY KEY (name_key, fact_id)
  ) WITHOUT ROWID`,
  "CREATE INDEX IF NOT EXISTS fact_names_by_fact ON fact_names (fact_id)",
];

const VIEW = `SELECT fact_id, content, category, tags, round(trust_score, 3) AS trust, source, replaced_by,
    coalesce(said_at, created_at) AS said_at, retrieval_count AS recalled
  FROM facts LEFT JOIN fact_notes USING (fact_id)`;

/** The trust of a replaced fact: it stays stored, and this value also hides it from v0.14. */
const REPLACED_TRUST = 0.05;
const RISE = 0.05;
const FALL = 0.1;
/** A word that occurs in this many facts is ignored in searches. */
const COMMON = 2_000;
const YEAR_MS = 31_557_600_000;
/** Two facts about one name with at least this share of common words may contradict each other. */
const ALIKE = 0.4;
/** How many of the newest facts are checked for contradictions. */
const DOUBTED = 100;

const within = (value, low = 0, high = 1) => Math.min(high, Math.max(low, value));
const marks = (list) => list.map(() => "?").join(",");

export class Facts {
  #db;
  #trust;

  /**
   * @param {import("hermes-ts/plugin").PluginDatabase} db
   * @param {number} trust of a new fact
   */
  constructor(db, trust) {
    this.#db = db;
    this.#trust = within(trust);
    db.exec(SHARED);
    for (const statement of OURS) db.exec(statement);
    this.#readOthers();
    this.#mendForeignIndexes();
  }

  /** Facts that v0.14 wrote or changed since the last call. */
  #readOthers() {
    const rows = this.#db.all(
      `SELECT fact_id, content, tags, created_at, updated_at FROM facts LEFT JOIN fact_notes USING (fact_id)
       WHERE read_as IS NULL OR read_as <> updated_at`,
    );
    if (rows.length === 0) return;
    this.#db.transaction(() => {
      for (const row of rows) this.#note(row, { source: "", at: String(row.created_at) });
    });
  }

  /**
   * Triggers keep the v0.14 index over `facts` up to date. When the index was created after our facts, a trigger would
   * later delete rows that were never inserted, which SQLite reports as corruption. So the index is completed first.
   */
  #mendForeignIndexes() {
    const indexes = this.#db.all(
      "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%fts5%' AND sql LIKE '%content=%facts%'",
    );
    for (const { name } of indexes) {
      const [quoted, sizes] = [name, `${name}_docsize`].map((word) => `"${word.replaceAll('"', '""')}"`);
      const { missing } = this.#db.get(
        `SELECT (SELECT count(*) FROM facts) <> (SELECT count(*) FROM ${sizes}) AS missing`,
      );
      if (missing) this.#db.run(`INSERT INTO ${quoted} (${quoted}) VALUES ('rebuild')`);
    }
  }

  /** Stores our own data about a fact; a known source is kept. */
  #note({ fact_id, content, tags, updated_at }, { source, at }) {
    this.#db.run(
      `INSERT INTO fact_notes (fact_id, source, said_at, read_as) VALUES (?, ?, ?, ?)
       ON CONFLICT (fact_id) DO UPDATE SET read_as = excluded.read_as`,
      fact_id,
      source,
      at,
      String(updated_at),
    );
    for (const table of ["fact_words", "fact_names"]) this.#db.run(`DELETE FROM ${table} WHERE fact_id = ?`, fact_id);
    for (const word of wordsOf(`${content} ${tags ?? ""}`))
      this.#db.run("INSERT INTO fact_words (word, fact_id) VALUES (?, ?)", word, fact_id);
    for (const { key, name } of namesIn(content))
      this.#db.run("INSERT INTO fact_names (name_key, fact_id, name) VALUES (?, ?, ?)", key, fact_id, name);
  }

  /** Updates a fact and records the time of the update, so that changes by v0.14 can be detected. */
  #change(factId, assignments, ...values) {
    const sql = `UPDATE facts SET ${assignments}, updated_at = CURRENT_TIMESTAMP WHERE fact_id = ? RETURNING updated_at`;
    const row = this.#db.get(sql, ...values, factId);
    if (row) this.#db.run("UPDATE fact_notes SET read_as = ? WHERE fact_id = ?", String(row.updated_at), factId);
    return row !== undefined;
  }

  get size() {
    return Number(this.#db.get("SELECT count(*) AS size FROM facts").size);
  }

  get(factId) {
    return this.#db.get(`${VIEW} WHERE fact_id = ?`, factId);
  }

  /** Stores a fact. The same text reactivates an old fact. The fact in `replaces` stays stored with low trust. */
  keep(content, { category = "general", tags = "", source = "", replaces } = {}) {
    const text = content.trim();
    if (text === "") throw new Error("a fact needs text");
    const at = new Date().toISOString();
    return this.#db.transaction(() => {
      const same = this.#db.get("SELECT fact_id FROM facts WHERE content = ?", text);
      const row =
        same ??
        this.#db.get(
          `INSERT INTO facts (content, category, tags, trust_score) VALUES (?, ?, ?, ?)
           RETURNING fact_id, content, tags, updated_at`,
          text,
          category,
          tags,
          this.#trust,
        );
      const factId = Number(row.fact_id);
      if (same) this.#holdsAgain(factId, at);
      else this.#note(row, { source, at });
      if (replaces !== undefined && replaces !== factId) this.#replace(replaces, factId);
      return { factId, isNew: !same };
    });
  }

  #holdsAgain(factId, at) {
    const { replaced_by } = this.get(factId);
    if (replaced_by !== null) this.#change(factId, "trust_score = max(trust_score, ?)", this.#trust);
    this.#db.run("UPDATE fact_notes SET replaced_by = NULL, said_at = ? WHERE fact_id = ?", at, factId);
  }

  #replace(oldId, newId) {
    if (!this.#change(oldId, "trust_score = min(trust_score, ?)", REPLACED_TRUST)) return;
    this.#db.run("UPDATE fact_notes SET replaced_by = ? WHERE fact_id = ?", newId, oldId);
  }

  /** How much of the query each fact contains, from 0 to 1; rare words weigh more. */
  #shares(words) {
    const total = this.size;
    const counts = new Map(
      this.#db
        .all(`SELECT word, count(*) AS facts FROM fact_words WHERE word IN (${marks(words)}) GROUP BY word`, ...words)
        .map(({ word, facts }) => [word, facts]),
    );
    const weigh = (word) => Math.log(1 + total / (counts.get(word) ?? 1));
    // A word that no fact contains weighs as much as the rarest one, so that a single common word is not enough.
    const whole = words.reduce((sum, word) => sum + weigh(word), 0);
    const known = [...counts.keys()].sort((one, other) => counts.get(one) - counts.get(other));
    const telling = known.filter((word, at) => at === 0 || counts.get(word) <= COMMON);
    const shares = new Map();
    for (const word of telling) {
      const share = weigh(word) / whole;
      const sql = "SELECT fact_id FROM fact_words WHERE word = ? ORDER BY fact_id DESC LIMIT ?";
      for (const { fact_id } of this.#db.all(sql, word, COMMON))
        shares.set(fact_id, (shares.get(fact_id) ?? 0) + share);
    }
    return shares;
  }

  /** Best first, ranked by match, trust and age. */
  search(query, options = {}) {
    return this.#recalled(this.#ranked(query, options));
  }

  #ranked(query, { category, minTrust = 0, minShare = 0, limit = 10, replaced = false }) {
    const words = wordsOf(query).slice(0, 64);
    if (words.length === 0) return [];
    const shares = [...this.#shares(words)].filter(([, share]) => share >= minShare);
    const likely = new Map(shares.sort((a, b) => b[1] - a[1]).slice(0, 200));
    const rows = this.#db.all(
      `${VIEW} WHERE fact_id IN (SELECT value FROM json_each(?))`,
      JSON.stringify([...likely.keys()]),
    );
    const found = rows.flatMap((row) => {
      if (category && row.category !== category) return [];
      if (!replaced && (row.replaced_by !== null || row.trust < minTrust)) return [];
      const years = Math.max(0, Date.now() - Date.parse(row.said_at)) / YEAR_MS;
      const share = likely.get(row.fact_id) ?? 0;
      return [{ row, score: (share * (0.4 + 0.6 * row.trust)) / (1 + 0.25 * (years || 0)) }];
    });
    found.sort((a, b) => b.score - a.score || b.row.fact_id - a.row.fact_id);
    return found.slice(0, limit).map(({ row }) => row);
  }

  #recalled(rows) {
    const at = new Date().toISOString();
    this.#db.transaction(() => {
      for (const { fact_id } of rows) {
        this.#db.run("UPDATE facts SET retrieval_count = retrieval_count + 1 WHERE fact_id = ?", fact_id);
        this.#db.run("UPDATE fact_notes SET used_at = ? WHERE fact_id = ?", at, fact_id);
      }
    });
    return rows;
  }

  /** Facts about all of these names; falls back to a word search for unknown names. */
  about(names, { limit = 10 } = {}) {
    const keys = [...new Set(names.map(nameKey))];
    const rows = this.#db.all(
      `${VIEW} WHERE replaced_by IS NULL AND fact_id IN (
         SELECT fact_id FROM fact_names WHERE name_key IN (${marks(keys)}) GROUP BY fact_id HAVING count(*) = ?
       ) ORDER BY trust DESC, said_at DESC LIMIT ?`,
      ...keys,
      keys.length,
      limit,
    );
    if (rows.length > 0) return this.#recalled(rows);
    const said = (row) => keys.every((key) => nameKey(row.content).includes(key));
    return this.search(keys.join(" "), { limit: 50 }).filter(said).slice(0, limit);
  }

  /** Other names in the facts about this one, the most frequent first. */
  beside(name, { limit = 10 } = {}) {
    return this.#db.all(
      `SELECT min(other.name) AS name, count(*) AS facts FROM fact_names AS own
         JOIN fact_names AS other ON other.fact_id = own.fact_id AND other.name_key <> own.name_key
         JOIN fact_notes AS note ON note.fact_id = own.fact_id
       WHERE own.name_key = ? AND note.replaced_by IS NULL
       GROUP BY other.name_key ORDER BY facts DESC, name LIMIT ?`,
      nameKey(name),
      limit,
    );
  }

  /** Pairs of similar facts about the same name, one of which may be outdated. */
  conflicts({ limit = 10 } = {}) {
    const newest = this.#db.all(`${VIEW} WHERE replaced_by IS NULL ORDER BY fact_id DESC LIMIT ?`, DOUBTED);
    const pairs = newest.flatMap((newer) => {
      const words = new Set(wordsOf(newer.content));
      const names = namesIn(newer.content).map(({ key }) => key);
      return this.#ranked(newer.content, { limit: 10 })
        .filter((older) => older.fact_id < newer.fact_id)
        .filter((older) => namesIn(older.content).some(({ key }) => names.includes(key)))
        .map((older) => ({ older, newer, alike: alike(words, new Set(wordsOf(older.content))) }));
    });
    return pairs
      .filter((pair) => pair.alike >= ALIKE && pair.alike < 1)
      .sort((one, other) => other.alike - one.alike)
      .slice(0, limit)
      .map(({ older, newer }) => ({ older: brief(older), newer: brief(newer) }));
  }

  /** A new text creates a fact that replaces the old one; other fields are changed in place. Undefined when there is no such fact. */
  correct(factId, { content, category, tags, source }) {
    const row = this.get(factId);
    if (!row) return undefined;
    const next = { category: category ?? row.category, tags: tags ?? row.tags };
    const text = content?.trim();
    if (text && text !== row.content) return this.keep(text, { ...next, source, replaces: factId }).factId;
    this.#change(factId, "category = ?, tags = ?", next.category, next.tags);
    return factId;
  }

  /** The new trust; negative feedback counts more than positive. Undefined when there is no such fact. */
  rate(factId, helpful) {
    const row = this.get(factId);
    if (!row) return undefined;
    const trust = within(row.trust + (helpful ? RISE : -FALL));
    this.#change(factId, "trust_score = ?, helpful_count = helpful_count + ?", trust, helpful ? 1 : 0);
    return trust;
  }

  forget(factId) {
    return this.#db.transaction(() => {
      for (const table of ["fact_words", "fact_names", "fact_notes"])
        this.#db.run(`DELETE FROM ${table} WHERE fact_id = ?`, factId);
      return this.#db.run("DELETE FROM facts WHERE fact_id = ?", factId).changes > 0;
    });
  }

  list({ category, limit = 10 } = {}) {
    const only = category ? "WHERE category = ?" : "";
    return this.#db.all(
      `${VIEW} ${only} ORDER BY said_at DESC, fact_id DESC LIMIT ?`,
      ...(category ? [category] : []),
      limit,
    );
  }
}

/** The share of words that both have in common. */
function alike(one, other) {
  const shared = [...one].filter((word) => other.has(word)).length;
  return shared / (one.size + other.size - shared || 1);
}

function brief({ fact_id, content, said_at }) {
  return { fact_id, content, said_at };
}
