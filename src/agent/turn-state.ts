// The state of one turn: created for each input, passed to the loop, the model call and the tools.
import type { AgentEvent, TurnEnd } from "../core/event.ts";
import type { Failure } from "../core/failure.ts";
import type { Message, ToolCall, UserMessage } from "../core/message.ts";
import { contentText } from "../core/message.ts";
import { AnswerDraftWriter } from "./answer-draft.ts";
import type { ConversationState } from "./conversation-state.ts";
import { ReplyReader } from "./next-step.ts";
import { FileChanges } from "./tools/file-changes.ts";
import { LoopGuard } from "./tools/loop-guard.ts";
import { TurnTotals } from "./turn-totals.ts";

const DEFAULT_MODEL_CALLS = 90;

export interface TurnOutcome {
  readonly end: TurnEnd;
  readonly text: string;
  readonly failure?: Failure | undefined;
  /** Why the text may be incomplete. */
  readonly note?: string | undefined;
  /** Calls that the caller answers. */
  readonly clientCalls?: readonly ToolCall[] | undefined;
}

export interface TurnOptions {
  readonly signal: AbortSignal;
  /** Set when the owner did not write the input: where it came from. */
  readonly tainted: string | undefined;
  /** The part of the input that the user typed. */
  readonly typed: string | undefined;
  readonly senderId: string | undefined;
  /** Minimum interval between delta events; 0 emits each piece at once. */
  readonly deltaMs: number;
  emit(event: AgentEvent): void;
}

export class Turn {
  readonly state: ConversationState;
  readonly signal: AbortSignal;
  readonly senderId: string | undefined;
  readonly deltaMs: number;
  readonly emit: (event: AgentEvent) => void;
  readonly totals = new TurnTotals();
  readonly guard: LoopGuard;
  readonly changes = new FileChanges();
  readonly draft: AnswerDraftWriter | undefined;
  readonly replies: ReplyReader;
  readonly userText: string;
  /** The stored user message of this turn; looked up again after a compaction. */
  userMessage: Message;
  /** Recalled text and hook context: sent after the user message, never stored. */
  transientContext = "";
  /** Messages of a retry: sent after the log, never stored. */
  retryMessages: readonly Message[] = [];
  /** Set when the owner did not write the input: where it came from. */
  readonly inputOrigin: string | undefined;
  /** Characters of tool results so far. */
  resultChars = 0;
  callsLeft: number;
  /** Model calls that may still be free; bounded, so that repeated execute_code ends too. */
  refundsLeft: number;
  /** Compactions forced by the provider in this turn. */
  overflows = 0;
  /** A compaction gained nothing: only an overflow may compact again in this turn. */
  compactionFailed = false;
  /** Writes the usage of the last call to the session row; undefined when it has been written. */
  pendingUsage: (() => Promise<void>) | undefined;
  /** Text of an answer that never finished, as the user saw it. */
  unfinished = "";

  constructor(state: ConversationState, input: UserMessage, options: TurnOptions) {
    this.state = state;
    this.signal = options.signal;
    this.senderId = options.senderId;
    this.deltaMs = options.deltaMs;
    this.emit = options.emit;
    this.draft = state.drafts && new AnswerDraftWriter(state.drafts, () => state.log.sessionId);
    this.guard = new LoopGuard(state.settings.guard);
    this.replies = new ReplyReader(state.tools, state.settings.continueCutAnswers);
    this.userText = contentText(input.content);
    this.userMessage = input;
    this.inputOrigin = options.tainted;
    state.ownTexts.add(options.typed ?? (options.tainted === undefined ? this.userText : ""));
    this.callsLeft = state.settings.maxTurns ?? DEFAULT_MODEL_CALLS;
    this.refundsLeft = this.callsLeft;
  }

  /** Writes the usage of the last call, unless it has been written. */
  async writePendingUsage(): Promise<void> {
    const write = this.pendingUsage;
    this.pendingUsage = undefined;
    await write?.();
  }

  /** Stores messages, then emits them. */
  async append(messages: readonly Message[]): Promise<Message[]> {
    const appended = this.state.log.append(messages);
    // Begun in the same tick: a store that batches its writes puts both into one transaction.
    const recorded = this.writePendingUsage();
    // A rejection of one must not be unhandled while the other is awaited.
    recorded.catch(() => undefined);
    const stored = await appended;
    await recorded;
    if (messages.some(({ role }) => role === "assistant")) this.draft?.clear();
    for (const { id, message } of stored) {
      if (message.role === "tool")
        this.state.outside.stored(this.state.log.sessionId, id, {
          id: message.tool_call_id,
          toolName: message.tool_name,
        });
      this.emit({ type: "message", id, message });
    }
    return stored.map(({ message }) => message);
  }

  /** True when lasting changes need the user's approval. */
  get tainted(): boolean {
    return this.state.outside.tainted(this.state.human.present);
  }

  notice(level: "info" | "warning", text: string): void {
    this.emit({ type: "notice", level, text });
  }

  /** After a compaction the user message is another object: the newest with the same text, else the newest. */
  findUserMessage(): void {
    const users = this.state.log.messages.filter((message) => message.role === "user");
    const same = users.findLast((message) => contentText(message.content) === contentText(this.userMessage.content));
    this.userMessage = same ?? users.at(-1) ?? this.userMessage;
  }
}
