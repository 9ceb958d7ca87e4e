// Telegram topics in a private chat: each topic is a session of its own, and the chat itself becomes a lobby.
import type { CommandAnswer } from "../../core/command.ts";
import type { InboundEvent } from "../../core/platform.ts";
import type { SessionIndex } from "../../core/session.ts";
import type { TopicStore } from "../../core/telegram-topics.ts";

const REMIND_MS = 30_000;

const HELP = [
  "Topics give a private chat several sessions side by side.",
  "Switch topics on for this bot in @BotFather (Bot Settings, Threads Mode), then:",
  "/topic        switch it on; write in topics, this chat becomes a lobby",
  "/topic off    back to one session",
  "/topic ID     in a topic: go on with that session there",
].join("\n");

/** Which chats have switched it on; asked of the store once. */
export class Topics {
  readonly #store: TopicStore;
  readonly #now: () => number;
  /** Most homes never do, and are asked once for all chats. */
  #used: boolean | undefined;
  readonly #on = new Map<string, boolean>();
  readonly #reminded = new Map<string, number>();

  constructor(store: TopicStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async #enabled(chatId: string, userId: string): Promise<boolean> {
    const known = this.#on.get(chatId);
    if (known !== undefined) return known;
    this.#used ??= await this.#store.usesTelegramTopics();
    if (!this.#used) return false;
    const on = await this.#store.isTelegramTopicModeEnabled(chatId, userId);
    this.#on.set(chatId, on);
    return on;
  }

  /** What the lobby says instead of starting a turn: empty when it said so a moment ago, null outside of one. */
  async lobby(event: InboundEvent): Promise<string | null> {
    const { platform, chatKind, chatId, threadId, userId } = event.source;
    if (platform !== "telegram" || chatKind !== "dm" || threadId || !userId) return null;
    if (!(await this.#enabled(chatId, userId))) return null;
    const now = this.#now();
    if (now - (this.#reminded.get(chatId) ?? Number.NEGATIVE_INFINITY) < REMIND_MS) return "";
    this.#reminded.set(chatId, now);
    return "This chat is the lobby: write in one of its topics, or make a new one. /topic off ends this.";
  }

  /** The command. */
  async run(args: string, event: InboundEvent, store: Pick<SessionIndex, "resolveSessionId">): Promise<CommandAnswer> {
    const { platform, chatKind, chatId, threadId, userId } = event.source;
    if (args === "help") return text(HELP);
    if (platform !== "telegram" || chatKind !== "dm" || !userId)
      return text("Topics are for private chats on Telegram. Threads elsewhere have sessions of their own already.");
    if (args === "off") {
      await this.#store.disableTelegramTopicMode(chatId);
      this.#on.set(chatId, false);
      return text("This chat has one session again. Topics that exist keep theirs.");
    }
    if (args !== "") {
      if (!threadId) return text("Use /topic ID inside the topic that should go on with the session.");
      const id = await store.resolveSessionId(args);
      return id ? { type: "switch", sessionId: id } : text(`No session matches "${args}".`);
    }
    if (threadId) return text("This topic has a session of its own. /topic ID puts another session here.");
    await this.#store.enableTelegramTopicMode({ chatId, userId });
    this.#used = true;
    this.#on.set(chatId, true);
    return text(
      [
        "Topics are on: every topic of this chat is a session of its own.",
        "If the chat shows no topics, switch them on in @BotFather (Bot Settings, Threads Mode), or go back with /topic off.",
      ].join("\n"),
    );
  }
}

function text(answer: string): CommandAnswer {
  return { type: "text", text: answer };
}
