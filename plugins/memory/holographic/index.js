// Memory provider `holographic`: facts in a SQLite file of the home, each with its time, source and trust.
import { Facts } from "./facts.js";

const FILE = "memory_store.db";
const DEFAULTS = { trust: 0.5, minTrust: 0.3 };
/** Limits for the facts that are added to a turn: their number and how well they must match. */
const RECALL = { limit: 5, minShare: 0.2 };
const READING = new Set(["search", "about", "beside", "conflicts", "list"]);

/** Patterns of lasting statements that users make about themselves and their work. */
const LASTING = [
  { category: "user_pref", said: /\b(?:I|we) (?:always|never|usually|prefer|like|dislike|hate|love|use|work with)\b/i },
  { category: "user_pref", said: /\b(?:call me|my (?:name|time ?zone|birthday|editor|language|favou?rite \w+) is)\b/i },
  { category: "project", said: /\bwe(?:'ve| have)? (?:decided|agreed|chosen|settled|moved|switched)\b/i },
];
const LONGEST_SENTENCE = 300;

const text = (description) => ({ type: "string", description });
const TOOLS = [
  {
    name: "fact_store",
    description:
      "Facts that are stored across conversations: about the user, people, projects, decisions. Search before you answer from memory; store what will matter later, one statement at a time; correct a wrong fact instead of adding a second one.",
    parameters: {
      type: "object",
      properties: {
        action: {
          type: "string",
          enum: ["keep", "search", "about", "beside", "conflicts", "correct", "forget", "list"],
          description:
            "keep: store a fact (content) · search (query) · about: all facts about names (names) · beside: what else is mentioned with a name (names) · conflicts: facts that may contradict each other · correct (fact_id, content) · forget (fact_id) · list the newest",
        },
        content: text("The fact in one sentence that can be understood alone"),
        query: text("What to look for"),
        names: { type: "array", items: { type: "string" }, description: "People, places, projects, tools" },
        fact_id: { type: "integer" },
        category: { type: "string", enum: ["user_pref", "project", "tool", "general"] },
        tags: text("Additional search words"),
        replaced: { type: "boolean", description: "search: include facts that were corrected later" },
        limit: { type: "integer", description: "Default 10" },
      },
      required: ["action"],
    },
  },
  {
    name: "fact_feedback",
    description:
      "Report whether a fact that you used was right. Wrong ones lose trust until they are no longer recalled.",
    parameters: {
      type: "object",
      properties: { fact_id: { type: "integer" }, helpful: { type: "boolean" } },
      required: ["fact_id", "helpful"],
    },
  },
];

const FIELDS = [
  { key: "db_path", description: "SQLite file inside the home", default: FILE },
  {
    key: "auto_extract",
    description: "Store lasting statements of the user when a session ends",
    default: "false",
    choices: ["true", "false"],
  },
  { key: "default_trust", description: "Trust of a new fact, 0 to 1", default: String(DEFAULTS.trust) },
  { key: "min_trust_threshold", description: "Facts below this are not recalled", default: String(DEFAULTS.minTrust) },
];

function numberOf(value, fallback) {
  const number = Number(value ?? fallback);
  return Number.isFinite(number) ? number : fallback;
}

function need(args, ...names) {
  for (const name of names) {
    const value = args[name];
    if (value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0))
      throw new Error(`${args.action ?? "this"} needs ${name}`);
  }
}

/** One function per action; its return value is the result of the tool. */
const ACTIONS = {
  keep: (facts, args, { source }) => {
    need(args, "content");
    const { factId, isNew } = facts.keep(args.content, { category: args.category, tags: args.tags, source });
    return { fact_id: factId, kept: isNew ? "as a new fact" : "it was already stored" };
  },
  search: (facts, args, { limit, minTrust }) => {
    need(args, "query");
    return {
      facts: facts.search(args.query, { category: args.category, minTrust, limit, replaced: args.replaced === true }),
    };
  },
  about: (facts, args, { limit }) => {
    need(args, "names");
    return { facts: facts.about(args.names, { limit }) };
  },
  beside: (facts, args, { limit }) => {
    need(args, "names");
    return { names: facts.beside(args.names[0], { limit }) };
  },
  conflicts: (facts, _, { limit }) => ({ pairs: facts.conflicts({ limit }) }),
  correct: (facts, args, { source }) => {
    need(args, "fact_id");
    const { content, category, tags } = args;
    const id = facts.correct(Number(args.fact_id), { content, category, tags, source });
    if (id === undefined) throw new Error(`there is no fact ${args.fact_id}`);
    return { fact_id: id, ...(id === Number(args.fact_id) ? {} : { replaces: Number(args.fact_id) }) };
  },
  forget: (facts, args) => {
    need(args, "fact_id");
    return { forgotten: facts.forget(Number(args.fact_id)) };
  },
  list: (facts, args, { limit }) => ({ facts: facts.list({ category: args.category, limit }), stored: facts.size }),
};

/** @implements {import("hermes-ts/plugin").PluginMemoryProvider} */
class HolographicMemory {
  name = "holographic";
  #ctx;
  #facts;
  #source = "";

  /** @param {import("hermes-ts/plugin").PluginContext} ctx */
  constructor(ctx) {
    this.#ctx = ctx;
  }

  get #minTrust() {
    return numberOf(this.#ctx.config.min_trust_threshold, DEFAULTS.minTrust);
  }

  async initialize(init) {
    const { db_path, default_trust } = this.#ctx.config;
    const path = String(db_path || FILE).replace(/^\$\{?HERMES_HOME\}?\/?/, "");
    this.#facts ??= new Facts(this.#ctx.openDatabase(path), numberOf(default_trust, DEFAULTS.trust));
    this.#source = init.sessionId ? `session ${init.sessionId}` : init.platform;
  }

  systemPromptBlock() {
    const size = this.#facts?.size ?? 0;
    const stored = size === 0 ? "Nothing is stored yet." : `${size} ${size === 1 ? "fact is" : "facts are"} stored.`;
    return `# Facts\n${stored} fact_store stores and finds facts; fact_feedback reports whether one was right.`;
  }

  async prefetch(query) {
    const rows = this.#facts?.search(query, { ...RECALL, minTrust: this.#minTrust }) ?? [];
    const lines = rows.map((row) => {
      const origin = [String(row.said_at).slice(0, 10), row.source, `trust ${row.trust.toFixed(2)}`];
      return `- ${row.content} (fact ${row.fact_id}: ${origin.filter(Boolean).join(", ")})`;
    });
    return lines.length === 0 ? "" : ["## Facts that may matter here", ...lines].join("\n");
  }

  getToolSchemas() {
    return TOOLS;
  }

  /** In a turn that has read untrusted text, only calls that change the store need approval. */
  writes(name, args) {
    return name === "fact_store" && !READING.has(args.action);
  }

  async handleToolCall(name, args) {
    try {
      return JSON.stringify(name === "fact_feedback" ? this.#rate(args) : this.#act(args));
    } catch (error) {
      return JSON.stringify({ error: error instanceof Error ? error.message : String(error) });
    }
  }

  #opened() {
    if (!this.#facts) throw new Error("the fact store is not open");
    return this.#facts;
  }

  #rate(args) {
    need({ ...args, action: "fact_feedback" }, "fact_id", "helpful");
    const trust = this.#opened().rate(Number(args.fact_id), args.helpful === true);
    if (trust === undefined) throw new Error(`there is no fact ${args.fact_id}`);
    return { fact_id: Number(args.fact_id), trust };
  }

  #act(args) {
    const act = Object.hasOwn(ACTIONS, args.action) ? ACTIONS[args.action] : undefined;
    if (!act) throw new Error(`unknown action "${args.action}"; use one of: ${Object.keys(ACTIONS).join(", ")}`);
    const limit = Math.min(100, Math.max(1, Math.trunc(numberOf(args.limit, 10))));
    return act(this.#opened(), args, { limit, minTrust: this.#minTrust, source: this.#source });
  }

  /** Notes of the built-in memory are stored as facts too. */
  async onMemoryWrite({ action, target, content }) {
    if (action === "remove") return;
    this.#facts?.keep(content, { category: target === "user" ? "user_pref" : "general", source: "notes" });
  }

  async onSessionEnd(messages) {
    if (String(this.#ctx.config.auto_extract ?? "false") !== "true") return;
    for (const { role, content } of messages) {
      if (role !== "user" || typeof content !== "string") continue;
      for (const sentence of content.split(/(?<=[.!?。！？])\s*|\n+/)) {
        const kind = sentence.length <= LONGEST_SENTENCE && LASTING.find(({ said }) => said.test(sentence));
        if (kind) this.#facts?.keep(sentence, { category: kind.category, source: this.#source });
      }
    }
  }

  getConfigSchema() {
    return FIELDS;
  }
}

/** @param {import("hermes-ts/plugin").PluginContext} ctx */
export function register(ctx) {
  ctx.registerMemoryProvider(() => new HolographicMemory(ctx), "holographic");
}
