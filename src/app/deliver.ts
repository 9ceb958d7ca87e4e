// The deliverer of a program without a gateway, and the home channels that the environment names.
import type { Deliverer, DeliveryTarget } from "../core/job.ts";

/** Chat platforms that a delivery target may name. */
const PLATFORMS = [
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
] as const;

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

/** Nothing is connected: every platform is known, none can be reached. */
export function unconnected(env: Env): Deliverer {
  return {
    known: () => PLATFORMS,
    problem: (platform) => `${platform} is not set up here (hermes gateway setup)`,
    home: (platform) => homeChannel(env, platform),
    resolve: async () => undefined,
    send: async (target) => `${target.platform} is not connected`,
  };
}
