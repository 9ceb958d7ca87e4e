// Composes the API server of a home, alone or as a platform of the gateway.
import { openSettings } from "../config/api.ts";
import type { AgentApi } from "../core/agent-api.ts";
import type { Platform } from "../core/chat/platform.ts";
import { readPlatformSettings } from "../core/chat/platform-settings.ts";
import type { JsonObject } from "../core/message.ts";
import type { ResponseStore } from "../core/store/response-store.ts";
import { createJobService } from "../cron/job-service.ts";
import { privateDatabase } from "../home/home-layout.ts";
import { ensureApiKey } from "../platforms/api-server/api.ts";
import { configuredModel, configuredModels } from "../providers/configured-model.ts";
import { readProviderSettings } from "../providers/settings.ts";
import type { App } from "./app.ts";

export interface RunningServer {
  /** `http://127.0.0.1:8642` */
  readonly url: string;
  readonly modelName: string;
  close(): Promise<void>;
}

export interface OpenServerOptions {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  onLog?(level: "info" | "warning" | "error", text: string): void;
}

function agentApi(app: App): AgentApi {
  return {
    store: app.store,
    open: async (options) => {
      // As in chats: changes of `.env` and config.yaml are used from the next turn.
      await app.refreshSettings();
      return app.openConversation(options);
    },
    configuredModel: (name) => configuredModel(readProviderSettings(app.config, app.home.env), name),
    configuredModels: () => configuredModels(readProviderSettings(app.config, app.home.env)),
  };
}

async function openResponses(app: App): Promise<ResponseStore> {
  const { openResponseStore } = await import("../store/response-store.ts");
  return openResponseStore(privateDatabase(app.home, "response_store.db"));
}

function approvalMs(app: App): number {
  return app.config.approvals.gateway_timeout * 1000;
}

/** Listens until closed. Creates a key in `.env` when there is none. */
export async function openServer(app: App, options: OpenServerOptions = {}): Promise<RunningServer> {
  const [{ startApiServer }, { API_SERVER_SETTINGS, readApiServerSettings }] = await Promise.all([
    import("../platforms/api-server/server.ts"),
    import("../platforms/api-server/settings.ts"),
  ]);
  const { key } = await ensureApiKey(app.home, openSettings(app.home));
  const { setting: found } = readPlatformSettings(app, "api_server", API_SERVER_SETTINGS);
  const asked = (name: string) => {
    if (name === "API_SERVER_HOST" && options.host !== undefined) return options.host;
    if (name === "API_SERVER_PORT" && options.port !== undefined) return String(options.port);
    return found(name);
  };
  const settings = readApiServerSettings(asked, found("API_SERVER_KEY") ?? key, app.home.profile);
  const server = await startApiServer({
    agent: agentApi(app),
    responses: await openResponses(app),
    settings,
    jobs: async () => createJobService(() => app.cron()),
    approvalMs: approvalMs(app),
    state: () => ({ pid: process.pid, gateway_state: "standalone" }),
    ...(options.onLog ? { log: options.onLog } : {}),
  });
  return { url: server.url, modelName: settings.modelName, close: () => server.close() };
}

/** The same server as a platform of the gateway; `state` returns the gateway's status for `/health/detailed`. */
export async function openApiServerPlatform(app: App, state?: () => JsonObject): Promise<Platform> {
  const { apiServerPlatform } = await import("../platforms/api-server/platform.ts");
  return apiServerPlatform({
    agent: agentApi(app),
    openResponses: () => openResponses(app),
    ensureKey: async () => (await ensureApiKey(app.home, openSettings(app.home))).key,
    jobs: async () => createJobService(() => app.cron()),
    profile: app.home.profile,
    approvalMs: approvalMs(app),
    ...(state ? { state } : {}),
  });
}
