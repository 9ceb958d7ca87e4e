// Every built-in chat platform, one line each; its code is loaded when the gateway starts.
import type { SlashCommand } from "../core/chat/command.ts";
import type { Platform } from "../core/chat/platform.ts";
import type { JsonObject } from "../core/message.ts";
import type { App } from "./app.ts";

export interface PlatformEntry {
  readonly name: string;
  /** `state` returns the gateway's status. */
  load(app: App, state: () => JsonObject): Promise<Platform>;
}

/** The commands for the menus of Telegram and Discord. */
async function menuCommands(): Promise<readonly SlashCommand[]> {
  const { listSlashCommands } = await import("./commands/list-slash.ts");
  return listSlashCommands("chat");
}

async function loadDiscord(): Promise<Platform> {
  return (await import("../platforms/discord/discord.ts")).discordPlatform(await menuCommands());
}

async function loadTelegram(): Promise<Platform> {
  return (await import("../platforms/telegram/telegram.ts")).telegramWithMenu(await menuCommands());
}

/** Every platform of this home: the built-in ones, then those of plugins. */
export async function allPlatforms(app: App, state: () => JsonObject = () => ({})): Promise<readonly Platform[]> {
  const own = platformEntries.map((entry) => entry.load(app, state));
  return [...(await Promise.all(own)), ...(await app.pluginPlatforms())];
}

export const platformEntries: readonly PlatformEntry[] = [
  { name: "telegram", load: () => loadTelegram() },
  { name: "discord", load: () => loadDiscord() },
  { name: "email", load: async () => (await import("../platforms/email/email.ts")).emailPlatform },
  { name: "webhook", load: async () => (await import("../platforms/webhook/webhook.ts")).webhookPlatform },
  {
    name: "api_server",
    load: async (app, state) => (await import("./open-server.ts")).openApiServerPlatform(app, state),
  },
];
