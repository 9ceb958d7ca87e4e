// The Mem0 HTTP API with a circuit breaker.

const FAILURES = 5;
const REST_MS = 120_000;
const REQUEST_MS = 30_000;

/** Thrown while the circuit breaker is open: no request was sent. */
export class Resting extends Error {
  constructor(seconds) {
    super(`Mem0 has failed ${FAILURES} times in a row; the next attempt is in ${seconds} s`);
  }
}

export class Mem0Client {
  #failures = 0;
  #restsUntil = 0;
  #olderOnly = false;

  /** @param {{ apiKey: string, baseUrl: string, now?: () => number }} options */
  constructor(options) {
    this.apiKey = options.apiKey;
    this.baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.now = options.now ?? Date.now;
  }

  get resting() {
    return this.#restsUntil > this.now();
  }

  /** The user id must be inside the filters, not beside them. */
  search(query, filters, { topK, rerank }) {
    return this.#either("search/", "/v2/memories/search/", { query, filters, top_k: topK, rerank }).then(entriesOf);
  }

  /** The newest 100 memories. */
  all(filters) {
    const page = "?page=1&page_size=100";
    return this.#either(page, `/v2/memories/${page}`, { filters }).then(entriesOf);
  }

  /** The service processes the request after it has answered. `infer: false` stores the text unchanged. */
  add(messages, ids, { infer }) {
    return this.#either("add/", "/v1/memories/", { messages, ...ids, infer });
  }

  /** Uses version 3 of the API; for a self-hosted server that has only the older routes, those are used from then on. */
  async #either(route, older, body) {
    if (!this.#olderOnly) {
      try {
        return await this.#post(`/v3/memories/${route}`, body);
      } catch (error) {
        if (error.status !== 404 && error.status !== 405) throw error;
        this.#olderOnly = true;
      }
    }
    return this.#post(older, body);
  }

  async #post(path, body) {
    if (this.resting) throw new Resting(Math.ceil((this.#restsUntil - this.now()) / 1000));
    let response;
    try {
      response = await fetch(this.baseUrl + path, {
        method: "POST",
        headers: {
          authorization: `Token ${this.apiKey}`,
          accept: "application/json",
          "content-type": "application/json",
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_MS),
      });
    } catch (error) {
      this.#failed();
      throw new Error(`Mem0 cannot be reached: ${describeError(error)}`);
    }
    const text = await response.text().catch(() => "");
    // An invalid request does not count as a failure of the service.
    if (response.ok || (response.status < 500 && response.status !== 429 && response.status !== 408))
      this.#failures = 0;
    else this.#failed();
    if (!response.ok)
      throw Object.assign(new Error(`Mem0 answered ${response.status}: ${errorDetail(text)}`), {
        status: response.status,
      });
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

function describeError(error) {
  if (error?.name === "TimeoutError") return `no answer within ${REQUEST_MS / 1000} s`;
  return error?.cause?.code ?? (error instanceof Error ? error.message : String(error));
}

function errorDetail(text) {
  try {
    const { detail, error, message } = JSON.parse(text);
    return String(detail ?? error ?? message ?? text).slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
}

/** The service returns a list, or an object with `results`. */
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
