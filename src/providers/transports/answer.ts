// The answer that a decoder assembles: visible text through the scrubber, reasoning and tool calls.
import type { AssistantMessage, Json, Message, ToolCall } from "../../core/message.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { CallIds } from "./json-values.ts";
import { endScrub, SCRUB_START, type Scrubbed, type ScrubState, scrub } from "./scrub.ts";
import type { ReceivedAnswer, StreamedEvent } from "./transport.ts";

/** An answer with more tool calls fails: no model needs them, and a hostile server could exhaust time and memory. */
export const MAX_TOOL_CALLS = 512;

interface PartialCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
  readonly announced: boolean;
  readonly extra?: ToolCall["extra_content"] | undefined;
}

/** Immutable; every piece of the answer makes a new one. */
export interface AnswerState {
  readonly scrub: ScrubState;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly PartialCall[];
  /** The answer has more than `MAX_TOOL_CALLS` calls; the surplus is not in `calls`. */
  readonly tooManyCalls: boolean;
  /** The position in `calls` that a wire index or item id currently writes to. */
  readonly open: ReadonlyMap<string | number, number>;
  /** Opaque reasoning, to be stored as it came. */
  readonly details: readonly Json[];
  /** The response had a separate field for reasoning, so the provider may require it in the next request. */
  readonly ownReasoningField: boolean;
}

export const EMPTY_ANSWER: AnswerState = {
  scrub: SCRUB_START,
  text: "",
  reasoning: "",
  calls: [],
  tooManyCalls: false,
  open: new Map(),
  details: [],
  ownReasoningField: false,
};

const NEW_CALL: PartialCall = { id: "", name: "", args: "", announced: false };

interface CallPiece {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly args?: string | undefined;
}

/** Adds the pieces of one wire event: the new state is in `state`, what to show at once is in `events`. */
export class AnswerDraft {
  state: AnswerState;
  readonly events: StreamedEvent[] = [];

  constructor(state: AnswerState) {
    this.state = state;
  }

  addText(piece: string): void {
    if (piece !== "") this.#addScrubbed(scrub(this.state.scrub, piece));
  }

  addReasoning(piece: string): void {
    if (piece === "") return;
    this.state = { ...this.state, reasoning: this.state.reasoning + piece };
    this.events.push({ type: "reasoning", text: piece });
  }

  /** Releases the text that was held back because it could have become a tag. */
  flush(): void {
    this.#addScrubbed(endScrub(this.state.scrub));
  }

  #addScrubbed([state, { text, reasoning }]: readonly [ScrubState, Scrubbed]): void {
    this.addReasoning(reasoning);
    this.state = { ...this.state, scrub: state, text: this.state.text + text };
    // Text after the beginning of a tool call is stored but not shown: it is rarely meant for the user.
    if (text !== "" && this.state.calls.length === 0) this.events.push({ type: "text", text });
  }

  /** A piece of a tool call. A new id under a known key starts another call; a later name replaces the earlier one. */
  addCall(key: string | number, piece: CallPiece): void {
    let at = this.state.open.get(key);
    let call = at === undefined ? undefined : this.state.calls[at];
    if (at === undefined || !call || (piece.id && call.id !== "" && call.id !== piece.id)) {
      at = this.state.calls.length;
      if (at >= MAX_TOOL_CALLS) {
        if (!this.state.tooManyCalls) this.state = { ...this.state, tooManyCalls: true };
        return;
      }
      call = NEW_CALL;
      this.state = { ...this.state, open: new Map(this.state.open).set(key, at) };
    }
    const name = piece.name || call.name;
    const announced = call.announced || name !== "";
    if (announced && !call.announced) this.events.push({ type: "tool_call_started", name });
    this.#setCall(at, { ...call, id: piece.id || call.id, name, args: call.args + (piece.args ?? ""), announced });
  }

  /** Replaces the collected arguments of a call by their final form. */
  settleCall(key: string | number, args: string): void {
    this.#changeCall(key, { args });
  }

  setExtra(key: string | number, extra: ToolCall["extra_content"]): void {
    this.#changeCall(key, { extra });
  }

  setDetails(details: readonly Json[]): void {
    this.state = { ...this.state, details };
  }

  markOwnReasoningField(): void {
    if (!this.state.ownReasoningField) this.state = { ...this.state, ownReasoningField: true };
  }

  #changeCall(key: string | number, change: Partial<PartialCall>): void {
    const at = this.state.open.get(key);
    const call = at === undefined ? undefined : this.state.calls[at];
    if (at !== undefined && call) this.#setCall(at, { ...call, ...change });
  }

  #setCall(at: number, call: PartialCall): void {
    const calls = [...this.state.calls];
    calls[at] = call;
    this.state = { ...this.state, calls };
  }
}

/** True when the arguments of some call are not complete JSON. */
export function hasTruncatedCall({ calls }: AnswerState): boolean {
  return calls.some(({ args }) => args.trim() !== "" && parseJson(args) === undefined);
}

export function hasCalls({ calls }: AnswerState): boolean {
  return calls.some((call) => call.name !== "");
}

/** The finish reason to store: `reason` is what the server reported, in the words of chat completions. */
export function finishReason(answer: AnswerState, reason = "stop"): string {
  if (hasTruncatedCall(answer)) return "length";
  return hasCalls(answer) && reason === "stop" ? "tool_calls" : reason;
}

export function isEmptyAnswer({ text, reasoning, calls }: AnswerState): boolean {
  return text === "" && reasoning === "" && calls.length === 0;
}

function toolCalls(answer: AnswerState, messages: readonly Message[]): ToolCall[] {
  const ids = new CallIds(messages);
  return answer.calls
    .filter((call) => call.name !== "")
    .map((call, index) => {
      const args = call.args.trim() === "" ? "{}" : call.args;
      return {
        id: ids.claim(call.id, call.name, args, index),
        type: "function" as const,
        function: { name: call.name, arguments: args },
        ...(call.extra === undefined ? {} : { extra_content: call.extra }),
      };
    });
}

/** The whole message, in the shape that is stored. `messages` is the conversation before it. */
export function answerMessage(
  answer: AnswerState,
  finishReason: string,
  messages: readonly Message[],
): AssistantMessage {
  const calls = toolCalls(answer, messages);
  return {
    role: "assistant",
    content: answer.text === "" && calls.length > 0 ? null : answer.text,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    finish_reason: finishReason,
    ...(answer.reasoning === "" ? {} : { reasoning: answer.reasoning }),
    ...(answer.ownReasoningField && answer.reasoning !== "" ? { reasoning_content: answer.reasoning } : {}),
    ...(answer.details.length > 0 ? { reasoning_details: answer.details } : {}),
  };
}

/** What had arrived when the stream broke: text and reasoning, never half a tool call. */
export function receivedAnswer(answer: AnswerState): ReceivedAnswer {
  const draft = new AnswerDraft(answer);
  draft.flush();
  const { text, reasoning, calls } = draft.state;
  if (isEmptyAnswer(draft.state)) return {};
  const partial: AssistantMessage = {
    role: "assistant",
    content: text,
    ...(reasoning === "" ? {} : { reasoning }),
  };
  return { partial, inToolCall: calls.length > 0 };
}
