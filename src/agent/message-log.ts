// The stored messages of one conversation, and the only way to append to them.
import { UserError } from "../core/failure.ts";
import type { Message } from "../core/message.ts";
import type { ToolSchema } from "../core/model/provider.ts";
import { estimateMessageTokens, estimateSchemaTokens, estimateTextTokens } from "../core/model/tokens.ts";
import type { NewMessage, NewSession, SessionLog, SessionRow } from "../core/store/session.ts";
import { newSessionId } from "../lib/ids.ts";
import type { ConversationParts } from "./parts.ts";
import { redactMessage } from "./redact-message.ts";

const MAX_CHAIN = 100;

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
  /** The title of a new session; a title can also be set later. */
  readonly title?: string | undefined;
  /** The stored row, when the session exists already. */
  readonly row?: SessionRow | undefined;
  readonly messages?: readonly Message[] | undefined;
}

/** A session id as v0.14 writes it: six random digits for the terminal and cron, eight for everything else. */
export function createSessionId(source: string): string {
  return newSessionId(new Date(), source === "cli" || source === "cron" ? 6 : 8);
}

/** The store trims text when it reads it: it is trimmed before storing too, so that a resumed log is the same. */
function trimmed(message: Message): Message {
  if (message.role === "tool" || typeof message.content !== "string") return message;
  const content = message.content.trim();
  return content === message.content ? message : { ...message, content };
}

export class MessageLog {
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
  /** Set when the row is created. */
  #title: string | undefined;
  #schemaTokens: number | undefined;
  /** The provider's count for the first `messages` messages. */
  #reported: { readonly tokens: number; readonly messages: number } | undefined;

  constructor(parts: ConversationParts, origin: LogOrigin) {
    this.#parts = parts;
    this.#sessionId = origin.sessionId;
    this.conversationId = origin.conversationId;
    this.#parentSessionId = origin.parentSessionId;
    this.#title = origin.title;
    this.#row = origin.row;
    this.#messages = [...(origin.messages ?? [])];
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  /** Does not change from `open` until a continuation opens. */
  get system(): string {
    return this.#system;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  get opened(): boolean {
    return this.#opened;
  }

  /** True when the session was in the store before this process opened it. */
  get resumed(): boolean {
    return this.#row !== undefined;
  }

  /**
   * Creates the row, or reads the prompt of the stored one byte for byte. Later calls do nothing. A new row is on disk
   * with the first message, not before: a store that batches its writes needs one sync instead of two.
   */
  async open(): Promise<void> {
    if (this.#opened) return;
    const { store, provider, settings } = this.#parts;
    const stored = this.#row?.system_prompt;
    const system = stored ?? (await this.#parts.systemPrompt());
    if (this.#row === undefined) {
      this.#creating = this.#create({
        id: this.#sessionId,
        source: settings.source,
        model: provider.identity.model,
        systemPrompt: system,
        modelConfig: settings.modelConfig,
        userId: settings.userId,
        parentSessionId: this.#parentSessionId,
      });
      // `append` rejects with the error; the next turn creates the row again.
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

  async #create(session: NewSession): Promise<void> {
    const { store } = this.#parts;
    const created = store.createSession(session);
    // Both are begun at once: a store that batches its writes needs one sync.
    const titled = this.#title === undefined ? undefined : store.setSessionTitle(session.id, this.#title);
    // Another session may have taken the title meanwhile; the session is worth more than its title.
    titled?.catch(() => undefined);
    await created;
    await titled?.catch(() => undefined);
  }

  /** Sets the title now, or when the row is created. Returns it as stored. */
  async setTitle(title: string): Promise<string> {
    const { store } = this.#parts;
    await this.created();
    if (this.#opened || this.#row !== undefined) {
      await store.setSessionTitle(this.#sessionId, title);
      return (await store.getSessionTitle(this.#sessionId)) ?? "";
    }
    const other = await store.getSessionByTitle(title.trim());
    if (other)
      throw new UserError(`The title "${title}" belongs to session ${other.id} already.`, { hint: "Choose another." });
    this.#title = title;
    return title;
  }

  /** A title was given for the session that is not created yet. */
  get plannedTitle(): string | undefined {
    return this.#title;
  }

  /** Resolves when the messages are on disk, with secrets masked; they are part of the log only then. */
  async append(messages: readonly Message[]): Promise<StoredMessage[]> {
    const clean = messages.map((message) => trimmed(redactMessage(message, this.#parts.redactor)));
    const appended = this.#parts.store.appendMessages(this.#sessionId, this.#withTokens(clean));
    // When the session could not be created, `created` rejects with the cause; this rejection only follows from it.
    appended.catch(() => undefined);
    await this.created();
    const ids = await appended;
    this.#messages.push(...clean);
    return clean.map((message, index) => ({ id: ids[index] ?? 0, message }));
  }

  /** The messages as rows, with their estimated tokens. */
  #withTokens(messages: readonly Message[]): readonly NewMessage[] {
    const rows = messages.map((message) => ({ ...message, token_count: this.#countTokens(message) }));
    return rows as unknown as readonly NewMessage[];
  }

  /** Resolves when the session's row is on disk. */
  async created(): Promise<void> {
    await this.#creating;
  }

  /** Takes back the messages from this index on; the first one must be of the user. They stay in the store. */
  async undo(from: number): Promise<void> {
    await this.#parts.store.undoMessages(this.#sessionId, this.#messages.length - from);
    this.#messages = this.#messages.slice(0, from);
    this.#reported = undefined;
  }

  /** Ends this session as `branched` and copies it to a new one; this log must not be used afterwards. */
  async branch(next: { readonly sessionId: string; readonly title: string | undefined }): Promise<void> {
    const { store, provider, settings } = this.#parts;
    await store.splitSession({
      fromId: this.#sessionId,
      reason: "branched",
      session: {
        id: next.sessionId,
        source: settings.source,
        model: provider.identity.model,
        systemPrompt: this.#system || undefined,
        modelConfig: { ...settings.modelConfig, _branched_from: this.#sessionId },
        userId: settings.userId,
      },
      title: next.title,
      messages: this.#messages,
    });
  }

  /** Ends this session and continues in a new one, in one transaction. */
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
        modelConfig: settings.modelConfig,
        userId: settings.userId,
      },
      title: next.title,
      messages: this.#withTokens(next.messages),
    });
    this.#sessionId = next.sessionId;
    this.#system = next.system;
    this.#messages = [...next.messages];
    this.#reported = undefined;
  }

  /** Records the provider's token count for a request with the log as it is now. */
  reported(tokens: number): void {
    this.#reported = { tokens, messages: this.#messages.length };
  }

  /** Tokens of the next request: the provider's last count plus an estimate of what was appended since. */
  requestTokens(schemas: readonly ToolSchema[]): number {
    const report = this.#reported;
    if (report !== undefined && report.tokens > 0) return report.tokens + this.tokens(report.messages);
    this.#schemaTokens ??= estimateSchemaTokens(schemas);
    return estimateTextTokens(this.#system) + this.#schemaTokens + this.tokens();
  }

  /** Estimated tokens from message `from` on; each message is estimated once. */
  tokens(from = 0): number {
    let total = 0;
    for (let index = from; index < this.#messages.length; index++) total += this.#countTokens(this.#messages[index]);
    return total;
  }

  #countTokens(message: Message | undefined): number {
    if (message === undefined) return 0;
    const known = this.#tokens.get(message);
    if (known !== undefined) return known;
    const tokens = estimateMessageTokens(message);
    this.#tokens.set(message, tokens);
    return tokens;
  }
}

/** The id of the first session of a compaction chain; it identifies the whole conversation. */
export async function rootSession(store: SessionLog, row: SessionRow): Promise<string> {
  let current = row;
  for (let hop = 0; hop < MAX_CHAIN && current.parent_session_id !== null; hop++) {
    const parent = await store.getSession(current.parent_session_id);
    if (parent === null || parent.end_reason !== "compression") break;
    if (parent.ended_at !== null && current.started_at < parent.ended_at) break;
    current = parent;
  }
  return current.id;
}
