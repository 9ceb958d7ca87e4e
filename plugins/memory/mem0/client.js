// The Mem0 HTTP API, with a breaker that leaves a failing service alone for a while.

const FAILURES = 5;
const REST_MS = 120_000;
const REQUEST_MS = 30_000;

/** The service is resting after failures: nothing was sent. */
export class Resting extends Error {
  constructor(seconds) {
    super(`Mem0 has failed ${FAILURES} times in a row; the next try is in ${seconds} s`);
  }
}

export class Mem0Client {
  #failures = 0;
  #restsUntil = 0;

  /** @param {{ apiKey: string, baseUrl: string, now?: () => number }} options */
  constructor(options) {
    this.apiKey = options.apiKey;
    this.baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.now = options.now ?? Date.now;
  }

  get resting() {
    return this.#restsUntil > this.now();
  }

  search(query, filters, { topK, rerank }) {
    return this.#post("/v2/memories/search/", { query, filters, top_k: topK, rerank }).then(entriesOf);
  }

  all(filters) {
    return this.#post("/v2/memories/", { filters, page: 1, page_size: 100 }).then(entriesOf);
  }

  /** `infer: false` keeps the words as they are. */
  add(messages, ids, { infer }) {
    return this.#post("/v1/memories/", { messages, ...ids, infer, version: "v2", output_format: "v1.1" });
  }

  async #post(path, body) {
    if (this.resting) throw new Resting(Math.ceil((this.#restsUntil - this.now()) / 1000));
    let response;
    try {
      response = await fetch(this.baseUrl + path, {
        method: "POST",
        headers: { authorization: `Token ${this.apiKey}`, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_MS),
      });
    } catch (error) {
      this.#failed();
      throw new Error(`Mem0 cannot be reached: ${reasonOf(error)}`);
    }
    const text = await response.text().catch(() => "");
    // A wrong request says nothing about the service's health.
    if (response.ok || (response.status < 500 && response.status !== 429 && response.status !== 408))
      this.#failures = 0;
    else this.#failed();
    if (!response.ok) throw new Error(`Mem0 answered ${response.status}: ${detailOf(text)}`);
    try {
      return text === "" ? null : JSON.parse(text);
    } catch {
      throw new Error("Mem0's answer is not JSON");
    }
  }

  #failed() {
    this.#failures += 1;
    if (this.#failures < FAILURES) return;
    this.#failures = 0;
    this.#restsUntil = this.now() + REST_MS;
  }
}

function reasonOf(error) {
  if (error?.name === "TimeoutError") return `no answer within ${REQUEST_MS / 1000} s`;
  return error?.cause?.code ?? (error instanceof Error ? error.message : String(error));
}

function detailOf(text) {
  try {
    const { detail, error, message } = JSON.parse(text);
    return String(detail ?? error ?? message ?? text).slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}

/** The service answers with a list, or with one under `results`. */
function entriesOf(answer) {
  const list = Array.isArray(answer) ? answer : (answer?.results ?? []);
  return list
    .map((entry) => ({
      id: entry.id,
      memory: entry.memory ?? entry.text ?? "",
      score: entry.score,
      created_at: entry.created_at,
    }))
    .filter((entry) => entry.memory !== "");
}
