// Every chat platform of the product: one line each, its code imported only when the gateway starts.
import type { JsonObject } from "../core/message.ts";
import type { Platform } from "../core/platform.ts";
import type { App } from "./app.ts";

export interface PlatformEntry {
  readonly name: string;
  /** `state` is the gateway's own account of itself. */
  load(app: App, state: () => JsonObject): Promise<Platform>;
}

export const platformEntries: readonly PlatformEntry[] = [
  { name: "telegram", load: async () => (await import("../platforms/telegram/telegram.ts")).telegramPlatform },
  {
    name: "api_server",
    load: async (app, state) => (await import("./open-server.ts")).openApiServerPlatform(app, state),
  },
];
