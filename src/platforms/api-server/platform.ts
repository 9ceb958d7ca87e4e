// `api_server`: the OpenAI-compatible API as a platform of the gateway. It has no chats to send to.
import type { AgentApi } from "../../core/agent-api.ts";
import {
  PLAIN_CAPABILITIES,
  type Platform,
  type PlatformConnection,
  type PlatformContext,
} from "../../core/chat/platform.ts";
import type { JobService } from "../../core/job-service.ts";
import type { JsonObject } from "../../core/message.ts";
import type { ResponseStore } from "../../core/store/response-store.ts";
import { startProbe } from "../http/probe.ts";
import { API_SERVER_SETTINGS, readApiServerSettings } from "./settings.ts";

export interface ApiServerPlatformParts {
  readonly agent: AgentApi;
  openResponses(): Promise<ResponseStore>;
  /** Returns the key; creates and stores one when none is set. */
  ensureKey(): Promise<string>;
  readonly approvalMs?: number | undefined;
  /** The name of the home's profile. */
  readonly profile?: string | undefined;
  /** Scheduled jobs; opened at the first request. */
  jobs?(): Promise<JobService>;
  /** The gateway's status, for `/health/detailed`. */
  state?(): JsonObject;
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false", "no", "off"].includes(value.trim().toLowerCase());
}

async function connect(parts: ApiServerPlatformParts, context: PlatformContext): Promise<PlatformConnection> {
  const { startApiServer } = await import("./server.ts");
  const key = context.setting("API_SERVER_KEY") || (await parts.ensureKey());
  const settings = readApiServerSettings((name) => context.setting(name), key, parts.profile);
  const server = await startApiServer({
    agent: parts.agent,
    responses: await parts.openResponses(),
    settings,
    callerRetries: true,
    log: (level, text) => context.log(level, text),
    now: () => context.now(),
    approvalMs: parts.approvalMs || undefined,
    jobs: parts.jobs,
    state: parts.state,
  });
  context.log("info", `API server at ${server.url}/v1`);
  const probe = startProbe(`${server.url}/health`, { now: () => context.now() });
  const close = () => {
    probe.stop();
    return server.close();
  };
  context.signal.addEventListener("abort", () => void close(), { once: true });
  return {
    account: `${server.host}:${server.port}`,
    accountName: `${server.url}/v1`,
    send: async () => ({ ok: false, kind: "refused", reason: "API clients cannot be written to" }),
    working: () => server.active,
    drain: () => server.drain(),
    health: probe.health,
    close,
  };
}

export function apiServerPlatform(parts: ApiServerPlatformParts): Platform {
  return {
    name: "api_server",
    label: "API server",
    maxLength: 0,
    lengthUnit: "codepoints",
    capabilities: PLAIN_CAPABILITIES,
    promptHint: "A program talks to you over an API. Markdown is fine unless it asks for another form.",
    settings: API_SERVER_SETTINGS,
    toolProgress: "all",
    enabled: ({ setting }) => {
      const switched = setting("API_SERVER_ENABLED");
      if (isOn(switched) || (switched === undefined && Boolean(setting("API_SERVER_KEY")))) return { ok: true };
      return { ok: false, reason: "set API_SERVER_ENABLED=true to serve the API from the gateway" };
    },
    connect: (context) => connect(parts, context),
  };
}
