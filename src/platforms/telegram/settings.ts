// The settings of the Telegram platform, read once per connection.
import type { PlatformContext, PlatformSetting } from "../../core/chat/platform.ts";

export const TELEGRAM_SETTINGS: readonly PlatformSetting[] = [
  { env: "TELEGRAM_BOT_TOKEN", key: "token", description: "Token from @BotFather", secret: true, required: true },
  { env: "TELEGRAM_ALLOWED_USERS", key: "allow_from", description: "Ids of users who may write, separated by commas" },
  {
    env: "TELEGRAM_GROUP_ALLOWED_USERS",
    key: "group_allow_from",
    description: "Ids of users who may write in groups",
  },
  { env: "TELEGRAM_GROUP_ALLOWED_CHATS", description: "Ids of groups in which every member may write" },
  { env: "TELEGRAM_ALLOWED_CHATS", key: "allowed_chats", description: "Only these groups are served" },
  { env: "TELEGRAM_REQUIRE_MENTION", key: "require_mention", description: "In groups, answer only when addressed" },
  { env: "TELEGRAM_MENTION_PATTERNS", key: "mention_patterns", description: "More words that count as a mention" },
  {
    env: "TELEGRAM_FREE_RESPONSE_CHATS",
    key: "free_response_channels",
    description: "Groups where no mention is needed",
  },
  { env: "TELEGRAM_GUEST_MODE", key: "guest_mode", description: "Answer a direct mention in any group" },
  { env: "TELEGRAM_IGNORED_THREADS", key: "ignored_threads", description: "Topics to ignore" },
  { env: "TELEGRAM_REACTIONS", key: "reactions", description: "Show progress by reactions" },
  { env: "TELEGRAM_WEBHOOK_URL", key: "webhook_url", description: "Public address; without it updates are polled" },
  { env: "TELEGRAM_WEBHOOK_SECRET", key: "webhook_secret", description: "Secret of the webhook", secret: true },
  { env: "TELEGRAM_WEBHOOK_PORT", key: "webhook_port", description: "Port of the webhook server; 8443" },
  { env: "TELEGRAM_WEBHOOK_HOST", key: "webhook_host", description: "Address of the webhook server; 127.0.0.1" },
  { env: "TELEGRAM_API_ROOT", key: "api_root", description: "Another Bot API server" },
];

export interface TelegramSettings {
  readonly token: string;
  readonly apiRoot: string;
  readonly requireMention: boolean;
  readonly guestMode: boolean;
  readonly reactions: boolean;
  readonly linkPreviews: boolean;
  readonly allowedChats: readonly string[];
  readonly freeChats: readonly string[];
  readonly ignoredThreads: readonly string[];
  readonly mentionPatterns: readonly RegExp[];
  readonly webhook: {
    readonly url: string;
    readonly secret: string;
    readonly port: number;
    readonly host: string;
  } | null;
  /** How long one poll waits, and the tolerance for its answer. */
  readonly pollSeconds: number;
  readonly graceSeconds: number;
  /** Silence after which the state is red. */
  readonly redSeconds: number;
  /** Interval of the request whether webhook deliveries arrive. */
  readonly webhookCheckSeconds: number;
}

const YES = ["1", "true", "yes", "on"];

export function words(value: unknown): string[] {
  const list = Array.isArray(value) ? value : String(value ?? "").split(",");
  return list.map((item) => String(item).trim()).filter((item) => item !== "");
}

function patterns(value: string | undefined): RegExp[] {
  return words(value).flatMap((source) => {
    try {
      return [new RegExp(source, "i")];
    } catch {
      // An invalid pattern is searched for literally.
      return [new RegExp(source.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i")];
    }
  });
}

export function readSettings({ setting, section }: Pick<PlatformContext, "setting" | "section">): TelegramSettings {
  const on = (name: string) => YES.includes((setting(name) ?? "").toLowerCase());
  const number = (key: string, fallback: number) => {
    const value = Number(section[key]);
    return Number.isFinite(value) && value > 0 ? value : fallback;
  };
  const url = setting("TELEGRAM_WEBHOOK_URL");
  return {
    token: setting("TELEGRAM_BOT_TOKEN") ?? "",
    apiRoot: (setting("TELEGRAM_API_ROOT") ?? "https://api.telegram.org").replace(/\/+$/, ""),
    requireMention: on("TELEGRAM_REQUIRE_MENTION"),
    guestMode: on("TELEGRAM_GUEST_MODE"),
    reactions: on("TELEGRAM_REACTIONS"),
    linkPreviews: section.disable_link_previews !== true,
    allowedChats: words(setting("TELEGRAM_ALLOWED_CHATS")),
    freeChats: words(setting("TELEGRAM_FREE_RESPONSE_CHATS")),
    ignoredThreads: words(setting("TELEGRAM_IGNORED_THREADS")),
    mentionPatterns: patterns(setting("TELEGRAM_MENTION_PATTERNS")),
    webhook: url
      ? {
          url,
          secret: setting("TELEGRAM_WEBHOOK_SECRET") ?? "",
          port: Number(setting("TELEGRAM_WEBHOOK_PORT") ?? 8443),
          host: setting("TELEGRAM_WEBHOOK_HOST") ?? "127.0.0.1",
        }
      : null,
    pollSeconds: number("poll_seconds", 25),
    graceSeconds: number("grace_seconds", 10),
    redSeconds: number("red_seconds", 60),
    webhookCheckSeconds: number("webhook_check_seconds", 30),
  };
}
