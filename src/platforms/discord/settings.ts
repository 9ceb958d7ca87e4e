// The settings of the Discord platform, read once per connection.
import type { PlatformContext, PlatformSetting } from "../../core/chat/platform.ts";

export const DISCORD_SETTINGS: readonly PlatformSetting[] = [
  { env: "DISCORD_BOT_TOKEN", key: "token", description: "Token of the bot", secret: true, required: true },
  { env: "DISCORD_ALLOWED_USERS", key: "allow_from", description: "Ids of users who may write, separated by commas" },
  { env: "DISCORD_ALLOWED_ROLES", key: "allowed_roles", description: "Ids of roles whose members may write" },
  {
    env: "DISCORD_REQUIRE_MENTION",
    key: "require_mention",
    description: "In channels, answer only when mentioned (true)",
  },
  {
    env: "DISCORD_THREAD_REQUIRE_MENTION",
    key: "thread_require_mention",
    description: "Need a mention in threads as well (false)",
  },
  {
    env: "DISCORD_FREE_RESPONSE_CHANNELS",
    key: "free_response_channels",
    description: "Channels where no mention is needed",
  },
  { env: "DISCORD_ALLOWED_CHANNELS", key: "allowed_channels", description: "Only these channels are served" },
  { env: "DISCORD_IGNORED_CHANNELS", key: "ignored_channels", description: "Channels to ignore" },
  {
    env: "DISCORD_NO_THREAD_CHANNELS",
    key: "no_thread_channels",
    description: "Channels without automatic threads",
  },
  {
    env: "DISCORD_IGNORE_NO_MENTION",
    key: "ignore_no_mention",
    description: "Ignore messages that mention only other users (true)",
  },
  { env: "DISCORD_AUTO_THREAD", key: "auto_thread", description: "Start a thread for each conversation (true)" },
  { env: "DISCORD_ALLOW_BOTS", key: "allow_bots", description: "Messages of other bots: none, mentions or all" },
  { env: "DISCORD_REACTIONS", key: "reactions", description: "Show progress by reactions (true)" },
  { env: "DISCORD_HISTORY_BACKFILL", key: "history_backfill", description: "Read earlier messages (true)" },
  { env: "DISCORD_COMMAND_SYNC_POLICY", key: "command_sync_policy", description: "Slash commands: safe, bulk or off" },
  { env: "DISCORD_API_ROOT", key: "api_root", description: "Another address of the REST API" },
];

export interface DiscordSettings {
  readonly token: string;
  readonly apiRoot: string;
  readonly users: readonly string[];
  readonly roles: readonly string[];
  /** The server whose roles apply in private messages; empty for none. */
  readonly dmRoleGuild: string;
  readonly requireMention: boolean;
  readonly threadRequireMention: boolean;
  readonly ignoreNoMention: boolean;
  readonly freeChannels: readonly string[];
  readonly allowedChannels: readonly string[];
  readonly ignoredChannels: readonly string[];
  readonly noThreadChannels: readonly string[];
  readonly mentionPatterns: readonly RegExp[];
  readonly autoThread: boolean;
  readonly bots: "none" | "mentions" | "all";
  readonly reactions: boolean;
  readonly backfill: number;
  readonly syncCommands: boolean;
  readonly channelPrompts: { readonly [channel: string]: string };
  readonly skillBindings: readonly { readonly id: string; readonly skills: readonly string[] }[];
  /** Who is notified by a mention in an answer. */
  readonly pings: readonly ("users" | "roles" | "everyone")[];
}

export function words(value: unknown): string[] {
  const list = Array.isArray(value) ? value : String(value ?? "").split(",");
  return list.map((item) => String(item).trim()).filter((item) => item !== "");
}

function isOff(value: string): boolean {
  return ["0", "false", "no", "off"].includes(value.trim().toLowerCase());
}

function patterns(value: unknown): RegExp[] {
  return words(value).map((source) => {
    try {
      return new RegExp(source, "i");
    } catch {
      // An invalid pattern is searched for literally.
      return new RegExp(source.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
    }
  });
}

function bindings(value: unknown): DiscordSettings["skillBindings"] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    if (typeof entry !== "object" || entry === null || !("id" in entry)) return [];
    const { id, skills, skill } = entry as { id: unknown; skills?: unknown; skill?: unknown };
    return [{ id: String(id), skills: words(skills ?? skill) }];
  });
}

function prompts(value: unknown): { readonly [channel: string]: string } {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([channel, text]) => [channel, String(text)]));
}

export function readSettings({ setting, section }: Pick<PlatformContext, "setting" | "section">): DiscordSettings {
  const on = (name: string, fallback: boolean) => {
    const value = setting(name);
    return value === undefined || value === "" ? fallback : !isOff(value);
  };
  const list = (name: string) => words(setting(name));
  const bots = (setting("DISCORD_ALLOW_BOTS") ?? "none").toLowerCase();
  const limit = Number(section.history_backfill_limit ?? 50);
  const ping = (name: string, key: "users" | "roles" | "everyone", fallback: boolean) =>
    on(name, fallback) ? [key] : [];
  return {
    token: setting("DISCORD_BOT_TOKEN") ?? "",
    apiRoot: (setting("DISCORD_API_ROOT") ?? "https://discord.com/api").replace(/\/+$/, ""),
    users: [...list("DISCORD_ALLOWED_USERS"), ...list("GATEWAY_ALLOWED_USERS")],
    roles: list("DISCORD_ALLOWED_ROLES"),
    dmRoleGuild: String(section.dm_role_auth_guild ?? ""),
    requireMention: on("DISCORD_REQUIRE_MENTION", true),
    threadRequireMention: on("DISCORD_THREAD_REQUIRE_MENTION", false),
    ignoreNoMention: on("DISCORD_IGNORE_NO_MENTION", true),
    freeChannels: list("DISCORD_FREE_RESPONSE_CHANNELS"),
    allowedChannels: list("DISCORD_ALLOWED_CHANNELS"),
    ignoredChannels: list("DISCORD_IGNORED_CHANNELS"),
    noThreadChannels: list("DISCORD_NO_THREAD_CHANNELS"),
    mentionPatterns: patterns(section.mention_patterns),
    autoThread: on("DISCORD_AUTO_THREAD", true),
    bots: bots === "mentions" || bots === "all" ? bots : "none",
    reactions: on("DISCORD_REACTIONS", true),
    backfill: on("DISCORD_HISTORY_BACKFILL", true) && Number.isFinite(limit) ? Math.min(Math.max(limit, 0), 100) : 0,
    syncCommands: (setting("DISCORD_COMMAND_SYNC_POLICY") ?? "safe").toLowerCase() !== "off",
    channelPrompts: prompts(section.channel_prompts),
    skillBindings: bindings(section.channel_skill_bindings),
    pings: [
      ...ping("DISCORD_ALLOW_MENTION_USERS", "users", true),
      ...ping("DISCORD_ALLOW_MENTION_ROLES", "roles", false),
      ...ping("DISCORD_ALLOW_MENTION_EVERYONE", "everyone", false),
    ],
  };
}
