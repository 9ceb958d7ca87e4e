// `Idempotency-Key`: a repeated request gets the answer of the first one instead of a second run.
import { createHash } from "node:crypto";
import type { Context } from "hono";
import { ApiError } from "./api-error.ts";

const MAX_ENTRIES = 1000;
const KEEP_MS = 300_000;

interface Entry {
  readonly request: string;
  readonly at: number;
  readonly answer: Promise<{ status: number; headers: [string, string][]; body: string }>;
}

/** An answer, and whether its run was completed. */
export interface Outcome {
  readonly response: Response;
  readonly completed: boolean;
}

export class Idempotency {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * Without the header it only calls `run`. A run that failed or was interrupted (`completed` is false) is not stored, so that
   * it can be retried.
   */
  async once(context: Context, body: unknown, run: () => Promise<Outcome>): Promise<Response> {
    const given = context.req.header("idempotency-key")?.trim();
    if (!given) return (await run()).response;
    const key = `${context.req.path} ${given}`;
    const about = [body, context.req.header("x-hermes-session-id"), context.req.header("x-hermes-session-key")];
    const request = createHash("sha256").update(JSON.stringify(about)).digest("hex");
    this.#forgetOld();
    let entry = this.#entries.get(key);
    if (entry && entry.request !== request)
      throw new ApiError(409, "idempotency_conflict", "this Idempotency-Key was used for another request");
    if (!entry) {
      const running = run();
      entry = { request, at: this.#now(), answer: running.then(keep) };
      this.#entries.set(key, entry);
      const forget = () => this.#entries.delete(key);
      running.then(({ completed }) => void (completed || forget()), forget);
    }
    const { status, headers, body: text } = await entry.answer;
    return new Response(text, { status, headers });
  }

  #forgetOld(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size < MAX_ENTRIES && this.#now() - entry.at < KEEP_MS) return;
      this.#entries.delete(key);
    }
  }
}

async function keep({ response }: Outcome) {
  return { status: response.status, headers: [...response.headers], body: await response.text() };
}
