// Handoffs: claims sessions that the terminal handed over and continues them in a home channel.
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { ChatKind, Source } from "../../core/chat/platform.ts";
import type { DeliveryTarget } from "../../core/job.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import type { SessionRow } from "../../core/store/session.ts";
import { findChatEntry } from "../../delivery/api/mirror.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { GatewayContext } from "../control/gateway-context.ts";
import type { SessionEntry } from "../inbound/session-index.ts";
import { sessionKey } from "../inbound/session-key.ts";

/** A check reads every session, so it runs rarely, and only after the store has changed. */
const CHECK_MS = 5_000;
const RECENT = 500;

const GREETING =
  "[This conversation was just moved here from the terminal. Say in one or two sentences where it stands, and continue.]";

export interface HandoffParts {
  gateway(): GatewayContext;
  home(platform: string): DeliveryTarget | undefined;
  problem(platform: string): string | undefined;
  receive(row: InboxRow): void;
}

function readSource(entry: SessionEntry): Source {
  const { origin, platform } = entry;
  const text = (name: string) => (origin[name] ? String(origin[name]) : undefined);
  return {
    platform,
    chatId: String(origin.chat_id ?? ""),
    chatKind: entry.chat_type as ChatKind,
    userId: text("user_id") ?? null,
    threadId: text("thread_id"),
    chatName: text("chat_name"),
    userName: text("user_name"),
  };
}

export class Handoffs {
  readonly #parts: HandoffParts;
  #timer: NodeJS.Timeout | undefined;
  #checking = false;
  #seen = "";

  constructor(parts: HandoffParts) {
    this.#parts = parts;
  }

  start(): void {
    void this.#release();
    this.#timer = setInterval(() => void this.check(), CHECK_MS);
    this.#timer.unref();
  }

  /** Fails handoffs that a gateway claimed before it crashed, so that they can be requested again. */
  async #release(): Promise<void> {
    const { opened, log } = this.#parts.gateway();
    const { store, handoffs } = opened.app;
    try {
      for (const session of await store.listSessions({ limit: RECENT }))
        if (session.handoff_state === "running")
          await handoffs.failHandoff(session.id, "the gateway ended during the handoff; try again");
    } catch (error) {
      log("warning", `handoffs could not be checked: ${errorMessage(error)}`);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #changed(): Promise<boolean> {
    const { path } = this.#parts.gateway().opened.app.home;
    const files = await Promise.all(
      ["state.db", "state.db-wal"].map((name) => stat(join(path, name)).catch(() => null)),
    );
    const now = files.map((file) => `${file?.mtimeMs} ${file?.size}`).join();
    const changed = now !== this.#seen;
    this.#seen = now;
    return changed;
  }

  /** Claims pending handoffs; each is claimed by one gateway only. */
  async check(): Promise<void> {
    if (this.#checking) return;
    this.#checking = true;
    const { opened, log } = this.#parts.gateway();
    const { handoffs } = opened.app;
    try {
      if (!(await this.#changed())) return;
      for (const session of await handoffs.listPendingHandoffs()) {
        if (!(await handoffs.claimHandoff(session.id))) continue;
        try {
          await this.#move(session);
          await handoffs.completeHandoff(session.id);
        } catch (error) {
          await handoffs.failHandoff(session.id, errorMessage(error));
        }
      }
    } catch (error) {
      log("warning", `handoffs could not be checked: ${errorMessage(error)}`);
    } finally {
      this.#checking = false;
    }
  }

  /** The home channel's chat: the known one, or a private chat of Telegram, whose id is the user's id. */
  #findHomeChat(platform: string): Source {
    const problem = this.#parts.problem(platform);
    if (problem !== undefined) throw new Error(problem);
    const home = this.#parts.home(platform);
    if (!home) throw new Error(`${platform} has no home channel: send /sethome in the chat that should become it`);
    const known = findChatEntry(this.#parts.gateway().index.entries(), home);
    if (known) return readSource(known);
    const { chatId, threadId } = home;
    if (platform === "telegram" && /^\d+$/.test(chatId))
      return { platform, chatId, chatKind: "dm", userId: chatId, threadId };
    throw new Error(`the home channel of ${platform} has no messages yet: send one there first`);
  }

  async #move(session: SessionRow): Promise<void> {
    const { opened, index, agents, keyRules, connection, now } = this.#parts.gateway();
    const { store } = opened.app;
    const platform = session.handoff_platform ?? "";
    const source = this.#findHomeChat(platform);
    const key = sessionKey(source, keyRules);
    const old = index.get(key)?.session_id;
    await agents.drop(key);
    const tip = await store.getCompressionTip(session.id);
    if (old && old !== tip && (await store.getSession(old))) await store.endSession(old, "session_switch");
    await store.reopenSession(tip);
    await index.renew(key, source, { sessionId: tip });
    const rows = await opened.mailbox.accept(platform, [
      {
        account: connection(platform)?.account ?? platform,
        messageId: `handoff:${randomUUID()}`,
        source,
        text: GREETING,
        internal: true,
        at: now(),
      },
    ]);
    for (const row of rows) this.#parts.receive(row);
  }
}
