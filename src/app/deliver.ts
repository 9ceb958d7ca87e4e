// The names of delivery targets, and the home channels that the environment names.
import type { DeliveryTarget } from "../core/job.ts";

/** Chat platforms that a delivery target may name. */
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

/** The home channel that the environment names for a platform. */
export function homeChannel(env: Env, platform: string): DeliveryTarget | undefined {
  const prefix = platform.toUpperCase();
  const names = HOME_NAMES[platform] ?? [`${prefix}_HOME_CHANNEL`];
  const chatId = names.map((name) => env[name]?.trim()).find((value) => value);
  const threadId = env[`${prefix}_HOME_CHANNEL_THREAD_ID`]?.trim() || env[`${prefix}_HOME_THREAD_ID`]?.trim();
  return chatId ? { platform, chatId, ...(threadId ? { threadId } : {}) } : undefined;
}
