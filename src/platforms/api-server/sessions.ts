// Finds the session of a request: named by header, recognised by its history, or new with that history.
import { createHash, randomBytes } from "node:crypto";
import type { AgentApi } from "../../core/agent-api.ts";
import type { ConversationOptions, OpenedConversation } from "../../core/conversation.ts";
import type { Human } from "../../core/human.ts";
import { type Content, contentText, type Message } from "../../core/message.ts";
import { estimateMessageTokens } from "../../core/model/tokens.ts";
import { endReason } from "../../core/store/end-reason.ts";
import type { StoredThread } from "../../core/store/response-store.ts";
import type { NewMessage } from "../../core/store/session.ts";
import { ApiError, invalid } from "./api-error.ts";
import type { ClientInput } from "./content.ts";
import { formatInstruction, type ModelDemands } from "./request-options.ts";

export const SOURCE = "api_server";
const SESSION_ID = /^[A-Za-z0-9][\w.:-]{0,127}$/;

export interface SessionOptions {
  readonly client: ClientInput;
  readonly human: Human;
  /** The session id sent by the client; created when it does not exist. */
  readonly sessionId?: string | undefined;
  /** The session that produced the client's history, when known. */
  readonly thread?: StoredThread | null | undefined;
  readonly userId?: string | undefined;
  /** Prefix of the id of a new session. */
  readonly prefix: string;
  /** The model of the conversation and what the request demands of it. */
  readonly model?: Pick<ConversationOptions, "model" | "provider" | "baseUrl"> | undefined;
  readonly demands?: ModelDemands | undefined;
}

export interface OpenedSession {
  readonly opened: OpenedConversation;
  readonly sessionId: string;
  /** The message to send; starts with the request's instructions when the session has different ones. */
  readonly input: ClientInput["input"];
  /** Results of the client's tools, sent instead of an input. */
  readonly results: ClientInput["results"];
  /** Frees the session for the next request; the conversation closes in the background. */
  release(): void;
}

/** A hash of the conversation as the client sees it: without calls of the agent's own tools. */
export function fingerprint(instructions: string, messages: readonly Message[], userId: string | undefined): string {
  const hash = createHash("sha256").update(JSON.stringify([userId ?? "", instructions.trim()]));
  for (const message of messages) {
    const calls = message.role === "assistant" ? (message.tool_calls ?? []).map(({ id }) => id) : [];
    hash.update(JSON.stringify([message.role, contentText(message.content).trim(), ...calls]));
  }
  return hash.digest("hex");
}

export function userMessage(input: ClientInput["input"]): Message {
  return { role: "user", content: input as Content };
}

function withInstructions(input: ClientInput["input"], instructions: string): ClientInput["input"] {
  const note = `[Instructions for this request]\n${instructions}\n[End of instructions]`;
  return typeof input === "string" ? `${note}\n\n${input}` : [{ type: "text", text: note }, ...input];
}

/** The session that answers a request. */
interface SessionPlan {
  readonly id: string;
  readonly exists: boolean;
  /** The history of a new session. */
  readonly seed: readonly Message[];
}

/** An id derived from the instructions and the first user message. */
function firstId(options: SessionOptions): string {
  const first = [...options.client.history, userMessage(options.client.input)].find(({ role }) => role === "user");
  const text = `${options.client.instructions}\n${contentText(first?.content)}`;
  return `${options.prefix}${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
}

/** A unique id, for conversations that start with the same words. */
function planNewSession(options: SessionOptions): SessionPlan {
  const id = `${firstId(options)}-${randomBytes(4).toString("hex")}`;
  return { id, exists: false, seed: options.client.history };
}

export class Sessions {
  readonly #agent: AgentApi;
  readonly #busy = new Set<string>();
  readonly #closing = new Set<Promise<void>>();
  #draining = false;
  readonly #idle: (() => void)[] = [];

  constructor(agent: AgentApi) {
    this.#agent = agent;
  }

  /** The options that choose the named model; a name that is not configured is only a label. */
  modelOptions(name: string | undefined): SessionOptions["model"] {
    return name === undefined ? undefined : this.#agent.configuredModel?.(name);
  }

  /** The configured models and aliases. */
  get models(): readonly string[] {
    return this.#agent.configuredModels?.() ?? [];
  }

  get active(): number {
    return this.#busy.size;
  }

  /** Opens no more sessions; resolves when all open ones were released. */
  drain(): Promise<void> {
    this.#draining = true;
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#free();
    });
  }

  #free(id?: string): void {
    if (id !== undefined) this.#busy.delete(id);
    if (this.#draining && this.#busy.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  get draining(): boolean {
    return this.#draining;
  }

  async open(options: SessionOptions): Promise<OpenedSession> {
    if (this.#draining) throw new ApiError(503, "server_stopping", "the server is stopping; try again in a moment");
    const found = await this.#plan(options);
    // When another request uses this session, a new one is opened, unless the client named the session.
    const plan = options.sessionId === undefined && this.#busy.has(found.id) ? planNewSession(options) : found;
    const { id } = plan;
    if (this.#busy.has(id))
      throw new ApiError(409, "session_busy", `session ${id} is answering another request; try again when it is done`);
    this.#busy.add(id);
    try {
      return await this.#openAs(options, plan);
    } catch (error) {
      this.#free(id);
      throw error;
    }
  }

  async #openAs(options: SessionOptions, plan: SessionPlan) {
    const { store } = this.#agent;
    const { instructions } = options.client;
    if (!plan.exists && plan.seed.length > 0)
      await store.createSession({ id: plan.id, source: SOURCE, userId: options.userId });
    if (plan.seed.length > 0)
      await store.appendMessages(
        plan.id,
        plan.seed.map(
          (message) => ({ ...message, token_count: estimateMessageTokens(message) }) as unknown as NewMessage,
        ),
      );
    const row = plan.exists || plan.seed.length > 0 ? await store.getSession(plan.id) : null;
    const knowsInstructions =
      !row || row.system_prompt === null || instructions === "" || row.system_prompt.includes(instructions);
    const open: ConversationOptions = {
      human: options.human,
      source: SOURCE,
      platform: SOURCE,
      userId: options.userId,
      ...(row ? { resume: plan.id } : { sessionId: plan.id }),
      instructions: instructions || undefined,
      titles: false,
      ...options.model,
      ...options.demands,
    };
    const opened = await this.#agent.open(open);
    const format = formatInstruction(options.demands ?? {});
    const asked = knowsInstructions ? options.client.input : withInstructions(options.client.input, instructions);
    return {
      opened,
      sessionId: plan.id,
      input: format === "" ? asked : withInstructions(asked, format),
      results: options.client.results,
      release: () => this.#release(plan.id, opened),
    };
  }

  #release(id: string, opened: OpenedConversation): void {
    const closing: Promise<void> = opened.conversation
      .close({ reason: endReason("api_close") })
      .catch(() => undefined)
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    this.#free(id);
  }

  async #plan(options: SessionOptions): Promise<SessionPlan> {
    const { store } = this.#agent;
    if (options.sessionId !== undefined) {
      const id = checkSessionId(options.sessionId);
      const row = await store.getSession(id);
      checkUser(row, options);
      return { id, exists: row !== null, seed: row ? [] : options.client.history };
    }
    if (options.thread && !this.#busy.has(options.thread.sessionId) && (await this.isUnchanged(options.thread))) {
      checkUser(await store.getSession(options.thread.sessionId), options);
      return { id: options.thread.sessionId, exists: true, seed: [] };
    }
    const id = firstId(options);
    const taken = this.#busy.has(id) || (await store.getSession(id)) !== null;
    return taken ? planNewSession(options) : { id, exists: false, seed: options.client.history };
  }

  /** True when the session has not changed since. */
  async isUnchanged(thread: StoredThread): Promise<boolean> {
    const tip = await this.#agent.store.getCompressionTip(thread.sessionId);
    const row = await this.#agent.store.getSession(tip);
    return row !== null && row.message_count === thread.messageCount;
  }

  /** Records the state of a session, to recognise it later. */
  async readThread(sessionId: string): Promise<StoredThread> {
    const tip = await this.#agent.store.getCompressionTip(sessionId);
    const row = await this.#agent.store.getSession(tip);
    return { sessionId: tip, messageCount: row?.message_count ?? 0 };
  }

  /** Resolves when all writes have finished. */
  async settle(): Promise<void> {
    await Promise.all(this.#closing);
  }
}

/** A request with a session key sees only the sessions of that key; without one it sees all. */
function checkUser(row: { readonly user_id: string | null } | null, { userId }: SessionOptions): void {
  if (row === null || userId === undefined || row.user_id === userId) return;
  throw new ApiError(
    403,
    "session_of_another_key",
    "this session does not belong to the given X-Hermes-Session-Key; omit X-Hermes-Session-Id to start a new one",
  );
}

export function checkSessionId(text: string): string {
  if (SESSION_ID.test(text)) return text;
  throw invalid("invalid_session_id", "a session id has letters, digits and . _ : - only, at most 128", "session_id");
}
