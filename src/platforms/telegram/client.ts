// The client of the Bot API: grammY over an own HTTP agent, so that a broken transport can be replaced.
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Api } from "grammy";
import type { SendResult } from "../../core/chat/platform.ts";

/** Errors before a connection was established: nothing can have been delivered. */
const NOT_SENT_CODES = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENETDOWN"];

/** A bundler may export a CommonJS package as `default` only. */
export async function loadGrammy(): Promise<typeof import("grammy")> {
  const module = (await import("grammy")) as typeof import("grammy") & { default?: typeof import("grammy") };
  return module.Api ? module : (module.default ?? module);
}

export class TelegramClient {
  readonly #token: string;
  readonly #root: string;
  #agent: HttpAgent | undefined;
  #api: Api | undefined;

  constructor(token: string, root: string) {
    this.#token = token;
    this.#root = root;
  }

  async api(): Promise<Api> {
    if (this.#api) return this.#api;
    const { Api: GrammyApi } = await loadGrammy();
    const agent = this.#root.startsWith("https:")
      ? new HttpsAgent({ keepAlive: true })
      : new HttpAgent({ keepAlive: true });
    this.#agent = agent;
    this.#api = new GrammyApi(this.#token, {
      apiRoot: this.#root,
      baseFetchConfig: { agent, compress: true },
      sensitiveLogs: false,
    });
    return this.#api;
  }

  /** The next call opens new connections. Active calls are not interrupted: a failed poll says nothing about them. */
  renew(): void {
    const agent = this.#agent;
    if (agent) {
      // Sockets that become free are closed instead of reused.
      (agent as { keepAlive?: boolean }).keepAlive = false;
      for (const socket of Object.values(agent.freeSockets).flat()) socket?.destroy();
    }
    this.#agent = undefined;
    this.#api = undefined;
  }

  /** Closes every socket. */
  rebuild(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
    this.#api = undefined;
  }

  fileUrl(path: string): string {
    return `${this.#root}/file/bot${this.#token}/${path}`;
  }
}

export interface ApiProblem {
  /** 0 without an answer. */
  readonly code: number;
  readonly text: string;
  readonly retryAfterMs?: number | undefined;
  /** The new chat id of a group that became a supergroup. */
  readonly movedTo?: string | undefined;
  readonly notSent: boolean;
  /** True after a time-out without any answer. */
  readonly silent: boolean;
}

function innermost(error: unknown): { code?: unknown; name?: string; message: string } {
  if (error instanceof Error && "error" in error && error.error instanceof Error) return innermost(error.error);
  if (error instanceof Error) return error as Error & { code?: unknown };
  return { message: String(error) };
}

/** The error without the address, which contains the token. */
export function describeApiError(error: unknown): ApiProblem {
  if (error instanceof Error && "error_code" in error) {
    const {
      error_code: code,
      description,
      parameters,
    } = error as Error & {
      error_code?: number;
      description?: string;
      parameters?: { retry_after?: number; migrate_to_chat_id?: number };
    };
    const seconds = parameters?.retry_after;
    const moved = parameters?.migrate_to_chat_id;
    // A proxy may answer in another format: refused, without a reason in Telegram's format.
    return {
      code: code ?? 400,
      text: description || "the Bot API server answered in an unknown format",
      notSent: false,
      silent: false,
      retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
      movedTo: moved === undefined ? undefined : String(moved),
    };
  }
  const { code, message, name: kind } = innermost(error);
  const name = typeof code === "string" ? code : "";
  return {
    code: 0,
    text: name || message.replaceAll(/\S*\/bot\S+/g, "the Bot API"),
    notSent: NOT_SENT_CODES.includes(name),
    silent: kind === "AbortError" || kind === "TimeoutError",
  };
}

export type Failure = Extract<SendResult, { ok: false }> & Pick<ApiProblem, "movedTo">;

export function sendFailure(error: unknown): Failure {
  const { code, text, retryAfterMs, notSent, movedTo } = describeApiError(error);
  if (code === 429) return { ok: false, kind: "retry", reason: text, retryAfterMs };
  if (notSent || code === 409) return { ok: false, kind: "retry", reason: text };
  if (code === 0 || code >= 500) return { ok: false, kind: "unknown", reason: text };
  return { ok: false, kind: "refused", reason: text, movedTo };
}
