// The names of delivery targets, and the home channel of a platform.
import type { DeliveryTarget } from "../../core/job.ts";

/** Chat platforms that a delivery target can name. */
export const PLATFORM_NAMES: readonly string[] = [
  "telegram",
  "discord",
  "slack",
  "whatsapp",
  "signal",
  "matrix",
  "mattermost",
  "email",
  "sms",
  "homeassistant",
  "dingtalk",
  "feishu",
  "wecom",
  "weixin",
  "bluebubbles",
  "qqbot",
  "yuanbao",
];

type Env = { readonly [name: string]: string | undefined };

const HOME_NAMES: { readonly [platform: string]: readonly string[] } = {
  matrix: ["MATRIX_HOME_ROOM", "MATRIX_HOME_CHANNEL"],
  email: ["EMAIL_HOME_ADDRESS", "EMAIL_HOME_CHANNEL"],
  qqbot: ["QQBOT_HOME_CHANNEL", "QQ_HOME_CHANNEL"],
};

function target(platform: string, chatId: unknown, threadId: unknown): DeliveryTarget {
  return { platform, chatId: String(chatId), threadId: threadId ? String(threadId) : undefined };
}

/** The environment's home channel for a platform, else that of the platform's section in the configuration. */
export function homeChannel(
  env: Env,
  platform: string,
  from: { readonly section: { readonly [key: string]: unknown }; readonly variable?: string | undefined },
): DeliveryTarget | undefined {
  const prefix = platform.toUpperCase();
  const usual = HOME_NAMES[platform] ?? [`${prefix}_HOME_CHANNEL`];
  const names = from.variable === undefined ? usual : [from.variable, ...usual];
  const variable = names.find((name) => env[name]?.trim());
  if (variable !== undefined) {
    const thread = [`${variable}_THREAD_ID`, `${prefix}_HOME_CHANNEL_THREAD_ID`, `${prefix}_HOME_THREAD_ID`];
    return target(platform, env[variable]?.trim(), thread.map((name) => env[name]?.trim()).find(Boolean));
  }
  const named = from.section.home_channel as
    | { chat_id?: unknown; thread_id?: unknown }
    | string
    | number
    | undefined
    | null;
  if (typeof named === "object" && named !== null)
    return named.chat_id ? target(platform, named.chat_id, named.thread_id) : undefined;
  return named ? target(platform, named, undefined) : undefined;
}
