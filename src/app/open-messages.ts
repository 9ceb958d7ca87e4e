// Composes the send_message tool of one conversation: which chats it may write to, and the deliverer.

import { readPlatformSettings } from "../core/chat/platform-settings.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import type { Deliverer, DeliveryTarget, JobOrigin, KnownChat } from "../core/job.ts";
import type { Tool } from "../core/tool/tool.ts";
import type { MessageTarget } from "../tools/send-message.ts";
import type { Services } from "./services.ts";

/** The required setting of each platform, to check them without loading their code. */
const SIGNS = [
  { platform: "telegram", env: "TELEGRAM_BOT_TOKEN", key: "token" },
  { platform: "discord", env: "DISCORD_BOT_TOKEN", key: "token" },
  { platform: "email", env: "EMAIL_ADDRESS", key: "address" },
];

function chatsSetUp(services: Services): boolean {
  return SIGNS.some(({ platform, env, key }) =>
    readPlatformSettings(services, platform, [{ env, key, description: "" }]).setting(env),
  );
}

/** The same check for platforms of plugins. */
async function isPluginPlatformReady(services: Services): Promise<boolean> {
  const fromPlugin = (await services.plugins?.platforms()) ?? [];
  return fromPlugin.some(({ name, settings, enabled }) => enabled(readPlatformSettings(services, name, settings)).ok);
}

function formatAddress({ platform, chatId, threadId }: DeliveryTarget): string {
  return `${platform}:${chatId}${threadId ? `:${threadId}` : ""}`;
}

function originTarget(origin: JobOrigin): DeliveryTarget {
  const { platform, chat_id: chatId, thread_id: threadId } = origin;
  return { platform, chatId, ...(threadId ? { threadId } : {}) };
}

function findHomes(deliverer: Deliverer): DeliveryTarget[] {
  return deliverer
    .known()
    .filter((name) => deliverer.problem(name) === undefined)
    .flatMap((name) => deliverer.home(name) ?? []);
}

/** The owner may write to every known chat; others only to home channels and to their current chat. */
class Reach {
  readonly #deliverer: () => Promise<Deliverer>;
  readonly #origin: DeliveryTarget | null;
  readonly #all: boolean;

  constructor(deliverer: () => Promise<Deliverer>, options: ConversationOptions) {
    this.#deliverer = deliverer;
    this.#origin = options.origin ? originTarget(options.origin) : null;
    this.#all = options.userId === undefined;
  }

  isOrigin(target: DeliveryTarget): boolean {
    return this.#origin !== null && formatAddress(this.#origin) === formatAddress(target);
  }

  async targets(): Promise<readonly MessageTarget[]> {
    const deliverer = await this.#deliverer();
    const homes = findHomes(deliverer);
    const chats = this.#all ? ((await deliverer.chats?.()) ?? []) : [];
    const own = this.#origin ? [{ target: formatAddress(this.#origin), name: "this chat", kind: "current" }] : [];
    return [
      ...homes.map((home) => ({ target: home.platform, name: "home channel", kind: "home" })),
      ...own,
      ...chats
        .filter((chat) => !this.isOrigin(chat))
        .map((chat) => ({ target: formatAddress(chat), name: formatLabel(chat), kind: chat.kind })),
    ];
  }

  async find(words: string): Promise<DeliveryTarget | { readonly error: string }> {
    const deliverer = await this.#deliverer();
    const [platform = "", ...rest] = words.split(":");
    const reference = rest.join(":");
    const { findChat } = await import("../delivery/api/channel-directory.ts");
    const known = reference === "" ? undefined : findChat((await deliverer.chats?.()) ?? [], platform, reference);
    const found = known ?? (await this.#resolve(words, deliverer));
    if ("error" in found) return found;
    const target = {
      platform: found.platform,
      chatId: found.chatId,
      ...(found.threadId ? { threadId: found.threadId } : {}),
    };
    const problem = deliverer.problem(target.platform);
    if (problem !== undefined) return { error: problem };
    if (this.#all || this.isOrigin(target)) return target;
    const home = deliverer.home(target.platform);
    if (home && formatAddress(home) === formatAddress(target)) return target;
    return { error: "Only the owner of this agent (gateway.owners) may write to other chats from here." };
  }

  async #resolve(words: string, deliverer: Deliverer): Promise<DeliveryTarget | { readonly error: string }> {
    if (words === "origin" && this.#origin) return this.#origin;
    const { resolveTargets } = await import("../cron/delivery-target.ts");
    const { targets, errors } = await resolveTargets({ deliver: words, origin: null }, deliverer);
    return targets[0] ?? { error: errors[0] ?? `"${words}" is not a chat` };
  }
}

function formatLabel({ name, guild }: KnownChat): string {
  return guild ? `${guild}/${name}` : name;
}

/** Empty when no chat platform is set up, so that the model does not see the tool. */
export async function messageToolsFor(services: Services, options: ConversationOptions): Promise<Tool[]> {
  if (!options.origin && !chatsSetUp(services) && !(await isPluginPlatformReady(services))) return [];
  const { sendMessageTool } = await import("../tools/send-message.ts");
  const reach = new Reach(() => services.cron.deliverer(), options);
  return [
    sendMessageTool({
      gate: services.gate,
      isProtected: async (path, role) =>
        (await import("../security/protected-files.ts")).isProtected(services.home, path, role),
      targets: () => reach.targets(),
      find: (words) => reach.find(words),
      send: async (target, message) => {
        // A message to the current chat is not mirrored: its session already has it.
        const mirror = reach.isOrigin(target) ? {} : { mirrorFrom: options.source ?? "cli" };
        return (await services.cron.deliverer()).send(target, { ...message, ...mirror });
      },
    }),
  ];
}
