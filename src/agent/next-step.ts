// Decides what follows from a model's reply: the answer, tools to run, another request, or a failure. No I/O.
import type { Failure } from "../core/failure.ts";
import type { AssistantMessage, Message } from "../core/message.ts";
import { contentText } from "../core/message.ts";
import type { ModelResponse } from "../core/model/provider.ts";
import { type PreparedBatch, prepareCalls, withCalls } from "./tools/prepare-calls.ts";
import type { ResolvedTools } from "./tools/resolved-tools.ts";

const EMPTY_TEXT = "(empty)";
const MAX_CONTINUATIONS = 3;
/** How often an answer whose connection broke is continued. */
const MAX_BREAKS = 2;
const MAX_ARGUMENT_RETRIES = 2;
const MAX_REASONING_RETRIES = 2;
const MAX_PLAIN_RETRIES = 3;
const MAX_UNKNOWN_ROUNDS = 3;
const RECENT_MESSAGES = 5;

const CONTINUE =
  "Your reply was cut off by the length limit. Continue exactly where it stopped, without repeating anything.";
const CONTINUE_BROKEN =
  "The connection broke in the middle of your reply. Continue exactly where it stopped, without repeating anything.";
const FILTERED = "The provider's content filter stopped this answer; it may be incomplete.";
const NUDGE_AFTER_TOOLS = "The tool results above are in. Use them to answer, or take the next step.";
const NUDGE_AFTER_THOUGHT = "You thought about it but wrote no answer. Write the answer now.";
const SMALLER_CALL =
  "Your tool call was cut off before its arguments were complete. Send it again; split large content into several smaller calls.";

export type NextStep =
  | {
      readonly kind: "tools";
      readonly message: AssistantMessage;
      readonly batch: PreparedBatch;
      readonly last: boolean;
    }
  /** `message` is stored; absent when the text is stored already. */
  | {
      readonly kind: "answer";
      readonly text: string;
      readonly message?: AssistantMessage | undefined;
      readonly notice?: string | undefined;
    }
  /** Call the model again; `messages` are sent after the log and never stored. */
  | { readonly kind: "again"; readonly messages: readonly Message[]; readonly notice?: string | undefined }
  | { readonly kind: "failed"; readonly failure: Failure; readonly text: string };

const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });

export interface Reply {
  readonly response: ModelResponse;
  /** Text of this reply that the user has seen. */
  readonly streamed: string;
  readonly log: readonly Message[];
}

/** Counts the retries of one turn. */
export class ReplyReader {
  readonly #tools: ResolvedTools;
  readonly #maxContinuations: number;
  /** Parts of an answer that ran into the length limit. */
  #pieces = "";
  #continuations = 0;
  #breaks = 0;
  #cutCalls = 0;
  #badArguments = 0;
  #unknownRounds = 0;
  #nudged = false;
  #afterThought = 0;
  #plain = 0;

  constructor(tools: ResolvedTools, continueCut = true) {
    this.#tools = tools;
    this.#maxContinuations = continueCut ? MAX_CONTINUATIONS : 0;
  }

  /** How often the answer was continued; the output limit grows with it. */
  get continuations(): number {
    return this.#continuations;
  }

  /** The text of an unfinished answer that the user has seen. */
  get pieces(): string {
    return this.#pieces;
  }

  read(reply: Reply): NextStep {
    const { message, finishReason, incomplete } = reply.response;
    if (finishReason === "content_filter") return this.#readFiltered(message);
    if (incomplete !== undefined) return this.#readBroken(contentText(message.content), incomplete);
    const calls = message.tool_calls ?? [];
    if (calls.length > 0) return this.#readCalls(reply, finishReason === "length");
    const text = contentText(message.content);
    if (finishReason === "length") return this.#readCutText(message, text);
    if (text.trim() === "") return this.#readEmpty(reply);
    return this.#answer(message, text);
  }

  #answer(message: AssistantMessage, text: string, notice?: string): NextStep {
    const whole = this.#pieces + text;
    this.#pieces = "";
    const stored = { ...message, content: whole };
    return { kind: "answer", text: whole, message: stored, notice };
  }

  /** A content filter stopped the answer. A retry would be stopped again; calls that were cut off are not run. */
  #readFiltered(filtered: AssistantMessage): NextStep {
    const { tool_calls: _notRun, ...message } = filtered;
    const text = contentText(message.content);
    if (this.#pieces + text !== "") return this.#answer(message, text, FILTERED);
    const failure: Failure = {
      kind: "content_filter",
      message: "The provider's content filter blocked the answer.",
      hint: "Rephrase the message, or choose another model with `hermes model`.",
    };
    return { kind: "failed", failure, text: "" };
  }

  /** The stream broke off after some text: the model continues it, as with an answer that was too long. */
  #readBroken(text: string, failure: Failure): NextStep {
    this.#pieces += text;
    if (this.#breaks >= MAX_BREAKS) return { kind: "failed", failure, text: this.#pieces };
    this.#breaks += 1;
    const notice = `${failure.message}. Asking for the rest.`;
    return { kind: "again", messages: [assistant(this.#pieces), user(CONTINUE_BROKEN)], notice };
  }

  #readCalls(reply: Reply, cut: boolean): NextStep {
    const { message } = reply.response;
    const batch = prepareCalls(message.tool_calls ?? [], this.#tools);
    if (batch.truncated || (cut && (batch.badArguments || batch.repaired))) return this.#cutCall();
    if (batch.badArguments && this.#badArguments < MAX_ARGUMENT_RETRIES) {
      this.#badArguments += 1;
      return { kind: "again", messages: [] };
    }
    this.#badArguments = 0;
    this.#cutCalls = 0;
    this.#nudged = false;
    this.#unknownRounds = batch.unknownTool ? this.#unknownRounds + 1 : 0;
    const content = this.#pieces === "" ? message.content : this.#pieces + contentText(message.content);
    this.#pieces = "";
    const stored = withCalls({ ...message, content }, batch.calls);
    return { kind: "tools", message: stored, batch, last: this.#unknownRounds >= MAX_UNKNOWN_ROUNDS };
  }

  #cutCall(): NextStep {
    this.#cutCalls += 1;
    if (this.#cutCalls === 1) return { kind: "again", messages: [user(SMALLER_CALL)] };
    const failure: Failure = {
      kind: "format_error",
      message: "The model's tool call was cut off twice by its output limit, so it was not run.",
      hint: "Ask for a smaller step, or raise model.max_tokens.",
    };
    return { kind: "failed", failure, text: this.#pieces };
  }

  #readCutText(message: AssistantMessage, text: string): NextStep {
    if (text.trim() === "" && this.#pieces === "") {
      const failure: Failure = {
        kind: "format_error",
        message: "The model spent its whole output allowance on thinking and wrote no answer.",
        hint: "Lower agent.reasoning_effort or raise model.max_tokens.",
      };
      return { kind: "failed", failure, text: "" };
    }
    if (this.#continuations >= this.#maxContinuations)
      return this.#answer(message, text, "The answer reached the model's length limit and may be incomplete.");
    this.#continuations += 1;
    this.#pieces += text;
    return { kind: "again", messages: [assistant(this.#pieces), user(CONTINUE)] };
  }

  /** Recovery from a reply without text, from the cheapest attempt to the most expensive. */
  #readEmpty(reply: Reply): NextStep {
    const { message } = reply.response;
    if (reply.streamed.trim() !== "" || this.#pieces !== "") return this.#answer(message, reply.streamed);
    const earlier = answerBeforeHousekeeping(reply.log, this.#tools);
    if (earlier !== undefined) return { kind: "answer", text: earlier };
    if (!this.#nudged && reply.log.slice(-RECENT_MESSAGES).some((entry) => entry.role === "tool")) {
      this.#nudged = true;
      return { kind: "again", messages: [assistant(EMPTY_TEXT), user(NUDGE_AFTER_TOOLS)] };
    }
    const thought = message.reasoning ?? message.reasoning_content ?? "";
    if (thought.trim() !== "" && this.#afterThought < MAX_REASONING_RETRIES) {
      this.#afterThought += 1;
      return { kind: "again", messages: [assistant(EMPTY_TEXT), user(NUDGE_AFTER_THOUGHT)] };
    }
    if (this.#plain < MAX_PLAIN_RETRIES) {
      this.#plain += 1;
      return { kind: "again", messages: [] };
    }
    const failure: Failure = {
      kind: "unknown",
      message: "The model returned only empty replies.",
      hint: "Send the message again, or choose another model with `hermes model`.",
    };
    return { kind: "failed", failure, text: EMPTY_TEXT };
  }
}

/** Text of a reply that has only housekeeping calls is the answer. */
function answerBeforeHousekeeping(log: readonly Message[], tools: ResolvedTools): string | undefined {
  let index = log.length - 1;
  while (index >= 0 && log[index]?.role === "tool") index--;
  const message = log[index];
  if (message?.role !== "assistant" || index === log.length - 1) return undefined;
  const text = contentText(message.content);
  const calls = message.tool_calls ?? [];
  const onlyHousekeeping = calls.length > 0 && calls.every((call) => isHousekeeping(tools, call.function.name));
  return onlyHousekeeping && text.trim() !== "" ? text : undefined;
}

function isHousekeeping(tools: ResolvedTools, name: string): boolean {
  const found = tools.locate(name);
  return found.kind === "tool" && found.tool.housekeeping === true;
}
