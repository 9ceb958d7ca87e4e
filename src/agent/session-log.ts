// The messages of one conversation as they stand in the store, and the only way to add to them.
import type { Message } from "../core/message.ts";
import type { NewMessage, SessionRow } from "../core/session.ts";
import { estimateMessageTokens } from "../core/tokens.ts";
import { newSessionId } from "../lib/ids.ts";
import type { ConversationParts } from "./parts.ts";
import { redactMessage } from "./redact-message.ts";

const LONGEST_CHAIN = 100;

export interface StoredMessage {
  readonly id: number;
  readonly message: Message;
}

export interface Continuation {
  readonly sessionId: string;
  readonly system: string;
  readonly title: string | undefined;
  readonly messages: readonly Message[];
}

export interface LogOrigin {
  readonly sessionId: string;
  readonly conversationId: string;
  readonly parentSessionId?: string | undefined;
  /** The stored row, when the session exists already. */
  readonly row?: SessionRow | undefined;
  readonly messages?: readonly Message[] | undefined;
}

/** A session id in the product's form; gateway sessions carry eight digits. */
export function freshSessionId(now: number, source: string): string {
  return newSessionId(new Date(now), source === "cli" || source === "cron" ? 6 : 8);
}

/** What people and models say is read back without outer space: it is kept so, or a resumed log would differ. */
function trimmed(message: Message): Message {
  if (message.role === "tool" || typeof message.content !== "string") return message;
  const content = message.content.trim();
  return content === message.content ? message : { ...message, content };
}

export class SessionLog {
  readonly conversationId: string;
  readonly #parts: ConversationParts;
  readonly #parentSessionId: string | undefined;
  readonly #tokens = new WeakMap<Message, number>();
  #sessionId: string;
  #row: SessionRow | undefined;
  #opened = false;
  #creating: Promise<unknown> | undefined;
  #system = "";
  #messages: Message[];

  constructor(parts: ConversationParts, origin: LogOrigin) {
    this.#parts = parts;
    this.#sessionId = origin.sessionId;
    this.conversationId = origin.conversationId;
    this.#parentSessionId = origin.parentSessionId;
    this.#row = origin.row;
    this.#messages = [...(origin.messages ?? [])];
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  /** Frozen from `open` until a continuation opens. */
  get system(): string {
    return this.#system;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get opened(): boolean {
    return this.#opened;
  }

  /** True when the session was in the store before this process met it. */
  get resumed(): boolean {
    return this.#row !== undefined;
  }

  /**
   * Creates the row, or takes the prompt of the stored one byte for byte. Later calls do nothing. A new row is on disk
   * with the first message, not before: a store that gathers its writes pays for one sync instead of two.
   */
  async open(): Promise<void> {
    if (this.#opened) return;
    const { store, provider, settings } = this.#parts;
    const stored = this.#row?.system_prompt;
    const system = stored ?? (await this.#parts.systemPrompt());
    if (this.#row === undefined) {
      this.#creating = store.createSession({
        id: this.#sessionId,
        source: settings.source,
        model: provider.identity.model,
        systemPrompt: system,
        ...(settings.modelConfig === undefined ? {} : { modelConfig: settings.modelConfig }),
        ...(settings.userId === undefined ? {} : { userId: settings.userId }),
        ...(this.#parentSessionId === undefined ? {} : { parentSessionId: this.#parentSessionId }),
      });
      // Whoever writes next meets the error; the next turn tries again.
      this.#creating.catch(() => {
        this.#opened = false;
      });
    } else {
      if (stored === null) await store.updateSystemPrompt(this.#sessionId, system);
      if (this.#row.ended_at !== null) await store.reopenSession(this.#sessionId);
    }
    this.#system = system;
    this.#opened = true;
  }

  /** Resolves when the messages are on disk, with secrets masked; they are part of the log only then. */
  async append(messages: readonly Message[]): Promise<StoredMessage[]> {
    const clean = messages.map((message) => trimmed(redactMessage(message, this.#parts.redactor)));
    const appended = this.#parts.store.appendMessages(this.#sessionId, clean as unknown as readonly NewMessage[]);
    // Without its session a message cannot be added: then that trouble is the one to tell.
    appended.catch(() => undefined);
    await this.created();
    const ids = await appended;
    this.#messages.push(...clean);
    return clean.map((message, index) => ({ id: ids[index] ?? 0, message }));
  }

  /** Resolves when the session's row is on disk. */
  async created(): Promise<void> {
    await this.#creating;
  }

  /** Ends this session and goes on in a new one, in one transaction. */
  async split(next: Continuation): Promise<void> {
    const { store, provider, settings } = this.#parts;
    await store.splitSession({
      fromId: this.#sessionId,
      session: {
        id: next.sessionId,
        source: settings.source,
        model: provider.identity.model,
        systemPrompt: next.system,
        parentSessionId: this.#sessionId,
        ...(settings.modelConfig === undefined ? {} : { modelConfig: settings.modelConfig }),
        ...(settings.userId === undefined ? {} : { userId: settings.userId }),
      },
      ...(next.title === undefined ? {} : { title: next.title }),
      messages: next.messages,
    });
    this.#sessionId = next.sessionId;
    this.#system = next.system;
    this.#messages = [...next.messages];
  }

  /** Estimated tokens from message `from` on; each message is measured once. */
  tokens(from = 0): number {
    let total = 0;
    for (let index = from; index < this.#messages.length; index++) total += this.tokensOf(this.#messages[index]);
    return total;
  }

  tokensOf(message: Message | undefined): number {
    if (message === undefined) return 0;
    const known = this.#tokens.get(message);
    if (known !== undefined) return known;
    const tokens = estimateMessageTokens(message);
    this.#tokens.set(message, tokens);
    return tokens;
  }
}

/** The first session of a chain of compactions: the id that stays the same for the whole conversation. */
export async function rootSession(parts: ConversationParts, row: SessionRow): Promise<string> {
  let current = row;
  for (let hop = 0; hop < LONGEST_CHAIN && current.parent_session_id !== null; hop++) {
    const parent = await parts.store.getSession(current.parent_session_id);
    if (parent === null || parent.end_reason !== "compression") break;
    if (parent.ended_at !== null && current.started_at < parent.ended_at) break;
    current = parent;
  }
  return current.id;
}
