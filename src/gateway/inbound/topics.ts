// Telegram topics in a private chat: each topic has its own session, and the chat itself becomes a lobby.
import type { CommandAnswer } from "../../core/chat/command.ts";
import type { InboundEvent } from "../../core/chat/platform.ts";
import type { SessionIndex } from "../../core/store/session.ts";
import type { TopicStore } from "../../core/store/telegram-topics.ts";

type TopicAnswer = Extract<CommandAnswer, { type: "text" | "switch" }>;

const REMIND_MS = 30_000;

const HELP = [
  "Topics give a private chat several sessions side by side.",
  "Enable topics for this bot in @BotFather (Bot Settings, Threads Mode), then:",
  "/topic        enable topics; this chat becomes a lobby",
  "/topic off    back to one session",
  "/topic ID     in a topic: resume that session there",
].join("\n");

/** Caches which chats use topics. */
export class Topics {
  readonly #store: TopicStore;
  readonly #now: () => number;
  /** Whether any chat uses topics. */
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

  /** The reply of a lobby, which starts no turn: empty shortly after the last reply, null outside of a lobby. */
  async lobby(event: InboundEvent): Promise<string | null> {
    const { platform, chatKind, chatId, threadId, userId } = event.source;
    if (platform !== "telegram" || chatKind !== "dm" || threadId || !userId) return null;
    if (!(await this.#enabled(chatId, userId))) return null;
    const now = this.#now();
    if (now - (this.#reminded.get(chatId) ?? Number.NEGATIVE_INFINITY) < REMIND_MS) return "";
    this.#reminded.set(chatId, now);
    return "This chat is the lobby: write in one of its topics, or create one. /topic off disables topics.";
  }

  /** Runs /topic. */
  async run(args: string, event: InboundEvent, store: Pick<SessionIndex, "resolveSessionId">): Promise<TopicAnswer> {
    const { platform, chatKind, chatId, threadId, userId } = event.source;
    if (args === "help") return text(HELP);
    if (platform !== "telegram" || chatKind !== "dm" || !userId)
      return text("Topics are for private chats on Telegram. Threads elsewhere already have their own sessions.");
    if (args === "off") {
      await this.#store.disableTelegramTopicMode(chatId);
      this.#on.set(chatId, false);
      return text("This chat has one session again. Existing topics keep theirs.");
    }
    if (args !== "") {
      if (!threadId) return text("Use /topic ID inside the topic that should resume the session.");
      const id = await store.resolveSessionId(args);
      return id ? { type: "switch", sessionId: id } : text(`No session matches "${args}".`);
    }
    if (threadId) return text("This topic has its own session. /topic ID resumes another session here.");
    await this.#store.enableTelegramTopicMode({ chatId, userId });
    this.#used = true;
    this.#on.set(chatId, true);
    return text(
      [
        "Topics are enabled: every topic of this chat has its own session.",
        "If the chat shows no topics, enable them in @BotFather (Bot Settings, Threads Mode), or return with /topic off.",
      ].join("\n"),
    );
  }
}

function text(answer: string): TopicAnswer {
  return { type: "text", text: answer };
}
