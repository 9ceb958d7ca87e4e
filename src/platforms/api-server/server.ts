// Starts and stops the API server.
import type { AgentApi } from "../../core/agent-api.ts";
import type { JobService } from "../../core/job-service.ts";
import type { JsonObject } from "../../core/message.ts";
import type { ResponseStore } from "../../core/store/response-store.ts";
import { type Listening, listen } from "../http/listen.ts";
import type { ApiContext } from "./api-context.ts";
import { apiServerApp } from "./routes.ts";
import { Runs } from "./runs.ts";
import { Sessions } from "./sessions.ts";
import type { ApiServerSettings } from "./settings.ts";

const APPROVAL_MS = 300_000;
const GRACE_MS = 2_000;

export interface ApiServerParts {
  readonly agent: AgentApi;
  /** Closed together with the server. */
  readonly responses: ResponseStore;
  readonly settings: ApiServerSettings;
  /** Scheduled jobs; opened at the first request. */
  readonly jobs?: (() => Promise<JobService>) | undefined;
  readonly approvalMs?: number | undefined;
  readonly keepAliveMs?: number | undefined;
  /** The caller retries when the port is in use. */
  readonly callerRetries?: boolean | undefined;
  /** More about this process, for `/health/detailed`. */
  readonly state?: (() => JsonObject) | undefined;
  log?(level: "info" | "warning" | "error", text: string): void;
  now?(): number;
}

export interface ApiServer extends Omit<Listening, "close"> {
  /** Number of active requests and runs. */
  readonly active: number;
  /** Accepts no new requests; resolves when the active ones have ended. */
  drain(): Promise<void>;
  /** Stops runs, lets answers finish, stores their results. Idempotent. */
  close(): Promise<void>;
}

export async function startApiServer(parts: ApiServerParts): Promise<ApiServer> {
  const { agent, responses, settings } = parts;
  const stopping = new AbortController();
  const sessions = new Sessions(agent);
  const api: ApiContext = {
    sessions,
    responses,
    modelName: settings.modelName,
    approvalMs: parts.approvalMs ?? APPROVAL_MS,
    keepAliveMs: parts.keepAliveMs,
    stopping: stopping.signal,
    log: parts.log ?? (() => undefined),
    now: parts.now ?? Date.now,
  };
  const runs = new Runs(api);
  const app = await apiServerApp({
    api,
    runs,
    settings,
    jobs: parts.jobs,
    state: parts.state,
  });
  const { host, port } = settings;
  const listening = await listen(app, {
    host,
    port,
    setting: "API_SERVER_PORT",
    callerRetries: parts.callerRetries,
  }).catch((error: unknown) => {
    responses.close();
    throw error;
  });
  let closing: Promise<void> | undefined;
  const close = async () => {
    stopping.abort();
    await runs.stopAll();
    await listening.close(GRACE_MS);
    // Stopped turns still store their partial results.
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, GRACE_MS).unref());
    await Promise.race([sessions.drain(), timeout]);
    await sessions.settle();
    responses.close();
  };
  return {
    host: listening.host,
    port: listening.port,
    url: listening.url,
    get active() {
      return sessions.active;
    },
    drain: async () => {
      const idle = sessions.drain();
      await runs.stopWaiting();
      await idle;
    },
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
