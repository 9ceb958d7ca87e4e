// Memory provider `mem0`: the Mem0 service extracts, stores and searches facts.
import { readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Mem0Client } from "./client.js";

const BASE_URL = "https://api.mem0.ai";
const DEFAULT_USER = "hermes-user";
const PREFETCH_MS = 3_000;
const CLOSE_MS = 4_000;
const RECALLED = 5;

const tool = (name, description, properties, required = []) => ({
  name,
  description,
  parameters: { type: "object", properties, required },
});

const TOOLS = [
  tool("mem0_profile", "Everything that is known about the user. Use it at the start of a longer task.", {}),
  tool(
    "mem0_search",
    "Search what is known about the user by meaning.",
    {
      query: { type: "string" },
      top_k: { type: "integer", description: "Maximum number of results (5; at most 50)" },
      rerank: { type: "boolean", description: "Rerank by relevance; slower" },
    },
    ["query"],
  ),
  tool(
    "mem0_conclude",
    "Store a lasting fact about the user in exactly these words.",
    { conclusion: { type: "string" } },
    ["conclusion"],
  ),
];

/** Environment variables take precedence over the stored settings. */
function settingsOf(ctx) {
  let file = {};
  try {
    file = JSON.parse(readFileSync(join(ctx.home, "mem0.json"), "utf8"));
  } catch {
    file = {};
  }
  const said = (name, key, fallback) => String(file[key] || ctx.env[name] || fallback);
  return {
    apiKey: said("MEM0_API_KEY", "api_key", ""),
    baseUrl: said("MEM0_BASE_URL", "base_url", BASE_URL),
    userId: said("MEM0_USER_ID", "user_id", ""),
    agentId: said("MEM0_AGENT_ID", "agent_id", "hermes"),
    rerank: String(file.rerank ?? ctx.config.rerank ?? "true") !== "false",
  };
}

function soon(work, ms, fallback) {
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(fallback), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** @implements {import("hermes-ts/plugin").PluginMemoryProvider} */
class Mem0Memory {
  name = "mem0";
  #ctx;
  #settings;
  #client;
  #ids = { user_id: DEFAULT_USER, agent_id: "hermes" };
  #queued;
  #background = new Set();

  /** @param {import("hermes-ts/plugin").PluginContext} ctx */
  constructor(ctx) {
    this.#ctx = ctx;
    this.#settings = settingsOf(ctx);
  }

  isAvailable() {
    return this.#settings.apiKey !== "";
  }

  async initialize(init) {
    const { apiKey, baseUrl, userId, agentId } = this.#settings;
    this.#client = new Mem0Client({ apiKey, baseUrl });
    const chosen = userId === DEFAULT_USER ? "" : userId;
    this.#ids = { user_id: chosen || init.userId || DEFAULT_USER, agent_id: agentId };
  }

  get #filters() {
    return { AND: [{ user_id: this.#ids.user_id }] };
  }

  systemPromptBlock() {
    return `# Mem0\nFacts about the user (${this.#ids.user_id}) are stored by Mem0. mem0_search finds them, mem0_profile lists them, mem0_conclude stores a new one.`;
  }

  #recall(query) {
    return this.#client
      .search(query, this.#filters, { topK: RECALLED, rerank: this.#settings.rerank })
      .then((entries) => entries.map((entry) => `- ${entry.memory}`).join("\n"))
      .catch((error) => {
        this.#ctx.log.warn(error.message);
        return "";
      });
  }

  queuePrefetch(query) {
    if (!this.#client || this.#client.resting || query.trim() === "") return;
    this.#queued = { query, found: this.#recall(query) };
  }

  /** The result of the search that the last turn queued, else a new search, with a limit of three seconds. */
  async prefetch(query) {
    if (!this.#client || this.#client.resting || query.trim() === "") return "";
    const queued = this.#queued;
    this.#queued = undefined;
    const [fresh, before] = await Promise.all([
      soon(this.#recall(query), PREFETCH_MS, ""),
      queued ? soon(queued.found, PREFETCH_MS, "") : "",
    ]);
    const lines = new Set([...fresh.split("\n"), ...before.split("\n")].filter((line) => line !== ""));
    return lines.size === 0 ? "" : `## Mem0\n${[...lines].join("\n")}`;
  }

  syncTurn(user, assistant) {
    if (!this.#client || this.#client.resting) return;
    const messages = [
      { role: "user", content: user },
      { role: "assistant", content: assistant },
    ];
    this.#later(this.#client.add(messages, this.#ids, { infer: true }));
  }

  #later(work) {
    const done = work
      .catch((error) => this.#ctx.log.warn(`a turn was not stored: ${error.message}`))
      .finally(() => this.#background.delete(done));
    this.#background.add(done);
  }

  getToolSchemas() {
    return TOOLS;
  }

  writes(name) {
    return name === "mem0_conclude";
  }

  async handleToolCall(name, args) {
    try {
      return JSON.stringify(await this.#act(name, args));
    } catch (error) {
      return JSON.stringify({ error: error instanceof Error ? error.message : String(error) });
    }
  }

  async #act(name, args) {
    if (name === "mem0_profile") {
      const entries = await this.#client.all(this.#filters);
      return {
        result: entries.map((entry) => entry.memory).join("\n") || "Nothing is known yet.",
        count: entries.length,
      };
    }
    if (name === "mem0_search") {
      if (!args.query) return { error: "mem0_search needs query" };
      const topK = Math.min(50, Math.max(1, Number(args.top_k ?? RECALLED)));
      const rerank = args.rerank ?? this.#settings.rerank;
      const results = await this.#client.search(args.query, this.#filters, { topK, rerank });
      return { results, count: results.length };
    }
    if (name !== "mem0_conclude") return { error: `Unknown tool: ${name}` };
    if (!args.conclusion) return { error: "mem0_conclude needs conclusion" };
    const messages = [{ role: "user", content: args.conclusion }];
    await this.#client.add(messages, this.#ids, { infer: false });
    return { result: "Kept." };
  }

  getConfigSchema() {
    return [
      {
        key: "api_key",
        description: "Mem0 API key",
        secret: true,
        required: true,
        envVar: "MEM0_API_KEY",
        url: "https://app.mem0.ai",
      },
      { key: "user_id", description: "User id of the facts", default: DEFAULT_USER },
      { key: "agent_id", description: "Agent id of the facts", default: "hermes" },
      {
        key: "rerank",
        description: "Rerank results by relevance",
        default: "true",
        choices: ["true", "false"],
      },
    ];
  }

  async saveConfig(values, home) {
    const path = join(home, "mem0.json");
    let before = {};
    try {
      before = JSON.parse(readFileSync(path, "utf8"));
    } catch {
      before = {};
    }
    const draft = `${path}.${process.pid}.tmp`;
    await writeFile(draft, `${JSON.stringify({ ...before, ...values }, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, path);
  }

  async shutdown() {
    await soon(Promise.all(this.#background), CLOSE_MS, undefined);
  }
}

/** @param {import("hermes-ts/plugin").PluginContext} ctx */
export function register(ctx) {
  ctx.registerMemoryProvider(() => new Mem0Memory(ctx), "mem0");
}
