// Decides what a model's reply means for the turn: an answer, tools to run, another try, or the end. Pure but for its counters.
import type { Failure } from "../core/failure.ts";
import type { AssistantMessage, Message } from "../core/message.ts";
import { textOf } from "../core/message.ts";
import type { ModelResponse } from "../core/provider.ts";
import { type PreparedBatch, prepareCalls, withCalls } from "./tools/prepare-calls.ts";
import type { ResolvedTools } from "./tools/resolved-tools.ts";

const EMPTY_TEXT = "(empty)";
const MOST_CONTINUATIONS = 3;
/** How often an answer whose connection broke is continued. */
const MOST_BREAKS = 2;
const MOST_ARGUMENT_REASKS = 2;
const MOST_REASONING_REASKS = 2;
const MOST_PLAIN_REASKS = 3;
const MOST_UNKNOWN_ROUNDS = 3;
const RECENT_MESSAGES = 5;
const HOUSEKEEPING = new Set(["memory", "todo", "skill_manage", "session_search"]);

const CONTINUE =
  "Your reply was cut off by the length limit. Continue exactly where it stopped, without repeating anything.";
const CONTINUE_BROKEN =
  "The connection broke in the middle of your reply. Continue exactly where it stopped, without repeating anything.";
const FILTERED = "The provider's content filter stopped this answer; it may be incomplete.";
const NUDGE_AFTER_TOOLS = "The tool results above are in. Use them to answer, or take the next step.";
const NUDGE_AFTER_THOUGHT = "You thought about it but wrote no answer. Write the answer now.";
const SMALLER_CALL =
  "Your tool call was cut off before its arguments were complete. Send it again; split large content into several smaller calls.";

export type Judgement =
  | {
      readonly kind: "tools";
      readonly message: AssistantMessage;
      readonly batch: PreparedBatch;
      readonly last: boolean;
    }
  /** `message` is what to store; absent when the text is stored already. */
  | {
      readonly kind: "answer";
      readonly text: string;
      readonly message?: AssistantMessage | undefined;
      readonly notice?: string;
    }
  /** Ask again; the scaffolding goes on the wire after the log and is never stored. */
  | { readonly kind: "again"; readonly scaffold: readonly Message[]; readonly notice?: string | undefined }
  | { readonly kind: "failed"; readonly failure: Failure; readonly text: string };

const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });

export interface Reply {
  readonly response: ModelResponse;
  /** Text that the person has seen of this reply. */
  readonly streamed: string;
  readonly log: readonly Message[];
}

/** One judge serves one turn. */
export class ReplyJudge {
  readonly #tools: ResolvedTools;
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

  constructor(tools: ResolvedTools) {
    this.#tools = tools;
  }

  /** How often the answer has been continued; the output allowance grows with it. */
  get continuations(): number {
    return this.#continuations;
  }

  /** What the person has seen of an answer that is not finished. */
  get pieces(): string {
    return this.#pieces;
  }

  judge(reply: Reply): Judgement {
    const { message, finishReason, incomplete } = reply.response;
    if (finishReason === "content_filter") return this.#judgeFiltered(message);
    if (incomplete !== undefined) return this.#judgeBroken(textOf(message.content), incomplete);
    const calls = message.tool_calls ?? [];
    if (calls.length > 0) return this.#judgeCalls(reply, finishReason === "length");
    const text = textOf(message.content);
    if (finishReason === "length") return this.#judgeCutText(message, text);
    if (text.trim() === "") return this.#judgeEmpty(reply);
    return this.#answer(message, text);
  }

  #answer(message: AssistantMessage, text: string, notice?: string): Judgement {
    const whole = this.#pieces + text;
    this.#pieces = "";
    const stored = { ...message, content: whole };
    return { kind: "answer", text: whole, message: stored, ...(notice === undefined ? {} : { notice }) };
  }

  /** A filter stopped the answer. Asking again would meet it again; calls that it cut off are not run. */
  #judgeFiltered(filtered: AssistantMessage): Judgement {
    const { tool_calls: _notRun, ...message } = filtered;
    const text = textOf(message.content);
    if (this.#pieces + text !== "") return this.#answer(message, text, FILTERED);
    const failure: Failure = {
      kind: "content_filter",
      message: "The provider's content filter blocked the answer.",
      hint: "Say it in other words, or choose another model with `hermes model`.",
    };
    return { kind: "failed", failure, text: "" };
  }

  /** The answer broke off after some text: the rest is asked for, as with an answer that was too long. */
  #judgeBroken(text: string, failure: Failure): Judgement {
    this.#pieces += text;
    if (this.#breaks >= MOST_BREAKS) return { kind: "failed", failure, text: this.#pieces };
    this.#breaks += 1;
    const notice = `${failure.message}. Asking for the rest.`;
    return { kind: "again", scaffold: [assistant(this.#pieces), user(CONTINUE_BROKEN)], notice };
  }

  #judgeCalls(reply: Reply, cut: boolean): Judgement {
    const { message } = reply.response;
    const batch = prepareCalls(message.tool_calls ?? [], this.#tools);
    if (batch.truncated || (cut && (batch.badArguments || batch.repaired))) return this.#cutCall();
    if (batch.badArguments && this.#badArguments < MOST_ARGUMENT_REASKS) {
      this.#badArguments += 1;
      return { kind: "again", scaffold: [] };
    }
    this.#badArguments = 0;
    this.#cutCalls = 0;
    this.#nudged = false;
    this.#unknownRounds = batch.unknownTool ? this.#unknownRounds + 1 : 0;
    const content = this.#pieces === "" ? message.content : this.#pieces + textOf(message.content);
    this.#pieces = "";
    const stored = withCalls({ ...message, content }, batch.calls);
    return { kind: "tools", message: stored, batch, last: this.#unknownRounds >= MOST_UNKNOWN_ROUNDS };
  }

  #cutCall(): Judgement {
    this.#cutCalls += 1;
    if (this.#cutCalls === 1) return { kind: "again", scaffold: [user(SMALLER_CALL)] };
    const failure: Failure = {
      kind: "format_error",
      message: "The model's tool call was cut off twice by its output limit, so it was not run.",
      hint: "Ask for a smaller step, or raise model.max_tokens.",
    };
    return { kind: "failed", failure, text: this.#pieces };
  }

  #judgeCutText(message: AssistantMessage, text: string): Judgement {
    if (text.trim() === "" && this.#pieces === "") {
      const failure: Failure = {
        kind: "format_error",
        message: "The model spent its whole output allowance on thinking and wrote no answer.",
        hint: "Lower agent.reasoning_effort or raise model.max_tokens.",
      };
      return { kind: "failed", failure, text: "" };
    }
    if (this.#continuations >= MOST_CONTINUATIONS)
      return this.#answer(message, text, "The answer reached the model's length limit and may be incomplete.");
    this.#continuations += 1;
    this.#pieces += text;
    return { kind: "again", scaffold: [assistant(this.#pieces), user(CONTINUE)] };
  }

  /** The ladder for a reply without text, from the least to the most costly rung. */
  #judgeEmpty(reply: Reply): Judgement {
    const { message } = reply.response;
    if (reply.streamed.trim() !== "" || this.#pieces !== "") return this.#answer(message, reply.streamed);
    const said = answerBeforeHousekeeping(reply.log);
    if (said !== undefined) return { kind: "answer", text: said };
    if (!this.#nudged && reply.log.slice(-RECENT_MESSAGES).some((entry) => entry.role === "tool")) {
      this.#nudged = true;
      return { kind: "again", scaffold: [assistant(EMPTY_TEXT), user(NUDGE_AFTER_TOOLS)] };
    }
    const thought = message.reasoning ?? message.reasoning_content ?? "";
    if (thought.trim() !== "" && this.#afterThought < MOST_REASONING_REASKS) {
      this.#afterThought += 1;
      return { kind: "again", scaffold: [assistant(EMPTY_TEXT), user(NUDGE_AFTER_THOUGHT)] };
    }
    if (this.#plain < MOST_PLAIN_REASKS) {
      this.#plain += 1;
      return { kind: "again", scaffold: [] };
    }
    const failure: Failure = {
      kind: "unknown",
      message: "The model kept answering with nothing.",
      hint: "Send the message again, or choose another model with `hermes model`.",
    };
    return { kind: "failed", failure, text: EMPTY_TEXT };
  }
}

/** The text that came together with nothing but housekeeping calls: it was the answer. */
function answerBeforeHousekeeping(log: readonly Message[]): string | undefined {
  let index = log.length - 1;
  while (index >= 0 && log[index]?.role === "tool") index--;
  const message = log[index];
  if (message?.role !== "assistant" || index === log.length - 1) return undefined;
  const text = textOf(message.content);
  const calls = message.tool_calls ?? [];
  const onlyHousekeeping = calls.length > 0 && calls.every((call) => HOUSEKEEPING.has(call.function.name));
  return onlyHousekeeping && text.trim() !== "" ? text : undefined;
}
