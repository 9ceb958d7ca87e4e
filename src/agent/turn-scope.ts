// Everything one turn keeps while it runs. Made fresh for each input, gone when the turn has ended.
import type { AgentEvent, TurnEnd } from "../core/event.ts";
import type { Failure } from "../core/failure.ts";
import type { Message, UserMessage } from "../core/message.ts";
import { textOf } from "../core/message.ts";
import type { ConversationState } from "./conversation-state.ts";
import { ReplyJudge } from "./judge-reply.ts";
import { Tally } from "./tally.ts";
import { FileChanges } from "./tools/file-changes.ts";
import { LoopGuard } from "./tools/loop-guard.ts";

export interface TurnOutcome {
  readonly end: TurnEnd;
  readonly text: string;
  readonly failure?: Failure | undefined;
  /** Why the text may be incomplete. */
  readonly note?: string | undefined;
}

export interface TurnOptions {
  readonly signal: AbortSignal;
  readonly tainted: boolean;
  readonly senderId: string | undefined;
  /** How often pieces of the answer are handed out; 0 hands out each. */
  readonly deltaMs: number;
  emit(event: AgentEvent): void;
}

export class TurnScope {
  readonly thread: ConversationState;
  readonly signal: AbortSignal;
  readonly senderId: string | undefined;
  readonly deltaMs: number;
  readonly emit: (event: AgentEvent) => void;
  readonly tally = new Tally();
  readonly guard: LoopGuard;
  readonly changes = new FileChanges();
  readonly judge: ReplyJudge;
  readonly userText: string;
  /** The stored user message of this turn; found again after a compaction. */
  userMessage: Message;
  /** Recalled text and hook context: on the wire behind the user message, never stored. */
  transientContext = "";
  /** Retry messages behind the log: on the wire only. */
  scaffold: readonly Message[] = [];
  tainted: boolean;
  resultChars = 0;
  callsLeft: number;
  /** Rounds that may still be free: an endless run of code must meet the budget in the end. */
  refundsLeft: number;
  /** Compactions forced by the provider in this turn. */
  overflows = 0;
  /** A pass brought nothing: only an overflow may try again in this turn. */
  fruitless = false;
  /** Text of an answer that never finished, as the person saw it. */
  unfinished = "";

  constructor(thread: ConversationState, input: UserMessage, options: TurnOptions) {
    const { settings } = thread.parts;
    this.thread = thread;
    this.signal = options.signal;
    this.senderId = options.senderId;
    this.deltaMs = options.deltaMs;
    this.emit = options.emit;
    this.guard = new LoopGuard(settings.guard);
    this.judge = new ReplyJudge(thread.tools);
    this.userText = textOf(input.content);
    this.userMessage = input;
    this.tainted = options.tainted;
    this.callsLeft = settings.maxTurns ?? 90;
    this.refundsLeft = this.callsLeft;
  }

  /** Stores messages, then shows them. */
  async append(messages: readonly Message[]): Promise<Message[]> {
    const kept = await this.thread.log.append(messages);
    for (const { id, message } of kept) this.emit({ type: "message", id, message });
    return kept.map(({ message }) => message);
  }

  notice(level: "info" | "warning", text: string): void {
    this.emit({ type: "notice", level, text });
  }

  /** After a compaction the user message is another object: the newest with the same text, else the newest. */
  findUserMessage(): void {
    const { messages } = this.thread.log;
    const users = messages.filter((message) => message.role === "user");
    const same = users.findLast((message) => textOf(message.content) === textOf(this.userMessage.content));
    this.userMessage = same ?? users.at(-1) ?? this.userMessage;
  }
}
