// Memory provider `holographic`: structured facts in `memory_store.db`, with time, source and trust.
import { FactStore } from "./store.js";

const CATEGORIES = ["user_pref", "project", "tool", "general"];
const RECALLED = 5;
const READING = new Set(["search", "probe", "related", "reason", "contradict", "list"]);
/** Sentences in which people say something that lasts. */
const LASTING = [
  [/\bI (?:prefer|like|love|hate|always|never|usually|use)\b.{3,200}/i, "user_pref"],
  [/\bmy (?:name|birthday|favou?rite|timezone|editor|preferred)\b.{3,200}/i, "user_pref"],
  [/\bwe (?:decided|agreed|chose|settled)\b.{3,200}/i, "project"],
];

const FACT_STORE = {
  name: "fact_store",
  description:
    "Structured long-term facts. add: keep a fact; search: by words; probe: everything about one entity; related: what is mentioned with it; reason: facts about several entities at once; contradict: facts that may conflict; update, remove, list. Look here before you answer questions about the user.",
  parameters: {
    type: "object",
    properties: {
      action: {
        type: "string",
        enum: ["add", "search", "probe", "related", "reason", "contradict", "update", "remove", "list"],
      },
      content: { type: "string", description: "The fact, for add and update" },
      query: { type: "string", description: "Words to search for" },
      entity: { type: "string", description: "For probe and related" },
      entities: { type: "array", items: { type: "string" }, description: "For reason" },
      fact_id: { type: "integer", description: "For update and remove" },
      supersedes: { type: "integer", description: "For add: the fact that this one replaces" },
      category: { type: "string", enum: CATEGORIES },
      tags: { type: "string", description: "Comma-separated" },
      trust_delta: { type: "number", description: "For update" },
      min_trust: { type: "number", description: "Default 0.3" },
      history: { type: "boolean", description: "For search: replaced facts too" },
      limit: { type: "integer", description: "Default 10" },
    },
    required: ["action"],
  },
};

const FACT_FEEDBACK = {
  name: "fact_feedback",
  description: "Rate a fact after using it: helpful when it was right, unhelpful when it was wrong or out of date.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["helpful", "unhelpful"] },
      fact_id: { type: "integer" },
    },
    required: ["action", "fact_id"],
  },
};

const isTrue = (value) => value === true || /^(1|true|yes|on)$/i.test(String(value ?? ""));

/** @implements {import("hermes-ts/plugin").PluginMemoryProvider} */
class HolographicMemory {
  name = "holographic";
  #ctx;
  #store;
  #source = "";
  #minTrust;

  /** @param {import("hermes-ts/plugin").PluginContext} ctx */
  constructor(ctx) {
    this.#ctx = ctx;
    this.#minTrust = Number(ctx.config.min_trust_threshold ?? 0.3);
  }

  isAvailable() {
    return true;
  }

  async initialize(init) {
    const path = String(this.#ctx.config.db_path ?? "memory_store.db").replace(/\$\{?HERMES_HOME\}?/, init.hermesHome);
    const trust = Number(this.#ctx.config.default_trust ?? 0.5);
    this.#store ??= new FactStore(this.#ctx.openDatabase(path), { defaultTrust: trust });
    this.#source = init.sessionId ? `session ${init.sessionId}` : init.platform;
  }

  systemPromptBlock() {
    const total = this.#store?.count() ?? 0;
    const state = total === 0 ? "The store is empty." : `${total} facts are stored.`;
    return `# Facts\n${state} Keep lasting facts about people, projects, preferences and decisions with fact_store, look there before answering about them, and rate what you used with fact_feedback.`;
  }

  async prefetch(query) {
    const rows = this.#store?.search(query, { minTrust: this.#minTrust, limit: RECALLED }) ?? [];
    if (rows.length === 0) return "";
    const lines = rows.map((row) => {
      const when = String(row.observed_at ?? row.created_at).slice(0, 10);
      return `- [fact ${row.fact_id}, trust ${row.trust.toFixed(2)}, ${when}${row.source ? `, ${row.source}` : ""}] ${row.content}`;
    });
    return `## Facts\n${lines.join("\n")}`;
  }

  getToolSchemas() {
    return [FACT_STORE, FACT_FEEDBACK];
  }

  /** Only what changes the store needs a person's word in a turn that has read untrusted text. */
  writes(name, args) {
    return name === "fact_store" && !READING.has(args.action);
  }

  async handleToolCall(name, args) {
    if (!this.#store) return JSON.stringify({ error: "the fact store is not open" });
    try {
      const answer = name === "fact_feedback" ? this.#feedback(args) : this.#act(args);
      return JSON.stringify(answer);
    } catch (error) {
      return JSON.stringify({ error: error instanceof Error ? error.message : String(error) });
    }
  }

  #feedback(args) {
    const trust = this.#store.feedback(Number(args.fact_id), args.action === "helpful");
    return trust === undefined ? { error: `there is no fact ${args.fact_id}` } : { fact_id: args.fact_id, trust };
  }

  #act(args) {
    const store = this.#store;
    const limit = Math.min(100, Math.max(1, Number(args.limit ?? 10)));
    const { category } = args;
    const listed = (results) => ({ results, count: results.length });
    switch (args.action) {
      case "add": {
        if (!args.content) return { error: "add needs content" };
        const supersedes = args.supersedes === undefined ? undefined : Number(args.supersedes);
        const details = { category, tags: args.tags, source: this.#source, supersedes };
        const { factId, known } = store.add(args.content, details);
        return { fact_id: factId, status: known ? "known already" : "added" };
      }
      case "search": {
        if (!args.query) return { error: "search needs query" };
        const minTrust = Number(args.min_trust ?? this.#minTrust);
        return listed(store.search(args.query, { category, minTrust, limit, history: args.history === true }));
      }
      case "probe":
        return args.entity ? listed(store.about([args.entity], { category, limit })) : { error: "probe needs entity" };
      case "related":
        return args.entity ? listed(store.related(args.entity, { limit })) : { error: "related needs entity" };
      case "reason":
        return args.entities?.length
          ? listed(store.about(args.entities, { category, limit }))
          : { error: "reason needs entities" };
      case "contradict":
        return listed(store.conflicts({ category, limit }));
      case "update": {
        const changes = { content: args.content, category, tags: args.tags, trustDelta: args.trust_delta };
        const id = store.update(Number(args.fact_id), { ...changes, source: this.#source });
        return id === undefined ? { error: `there is no fact ${args.fact_id}` } : { updated: true, fact_id: id };
      }
      case "remove":
        return { removed: store.remove(Number(args.fact_id)) };
      case "list":
        return listed(store.list({ category, minTrust: Number(args.min_trust ?? 0), limit }));
      default:
        return { error: `unknown action "${args.action}"` };
    }
  }

  async onMemoryWrite(write) {
    if (write.action === "remove") return;
    this.#store?.add(write.content, { category: write.target === "user" ? "user_pref" : "general", source: "notes" });
  }

  async onSessionEnd(messages) {
    if (!isTrue(this.#ctx.config.auto_extract)) return;
    for (const message of messages) {
      if (message.role !== "user" || typeof message.content !== "string") continue;
      for (const sentence of message.content.split(/(?<=[.!?])\s+|\n+/)) {
        const found = LASTING.find(([pattern]) => pattern.test(sentence));
        if (found && sentence.length < 400) this.#store?.add(sentence, { category: found[1], source: this.#source });
      }
    }
  }

  getConfigSchema() {
    return [
      { key: "db_path", description: "SQLite file inside the home", default: "memory_store.db" },
      {
        key: "auto_extract",
        description: "Keep lasting statements at the end of a session",
        default: "false",
        choices: ["true", "false"],
      },
      { key: "default_trust", description: "Trust of a new fact, 0 to 1", default: "0.5" },
      { key: "min_trust_threshold", description: "Facts below this are not recalled", default: "0.3" },
    ];
  }
}

/** @param {import("hermes-ts/plugin").PluginContext} ctx */
export function register(ctx) {
  ctx.registerMemoryProvider(() => new HolographicMemory(ctx), "holographic");
}
