// Gathers a streamed answer: visible text through the scrubber, reasoning, tool calls; and what to show of it at once.
import type { AssistantMessage, Json, ToolCall } from "../../core/message.ts";
import { Scrubber } from "./scrub.ts";
import type { TransportCall, TransportEvent } from "./transport.ts";
import type { Arrived } from "./wire.ts";
import { CallIds } from "./wire-values.ts";

interface Slot {
  id: string;
  name: string;
  args: string;
  announced: boolean;
  extra: ToolCall["extra_content"] | undefined;
}

function truncated(args: string): boolean {
  try {
    JSON.parse(args);
    return false;
  } catch {
    return true;
  }
}

/** Fed by one dialect's reader; every `add…` returns the events to yield now. */
export class Answer {
  readonly #call: TransportCall;
  readonly #scrubber = new Scrubber();
  readonly #slots: Slot[] = [];
  /** The slot that a wire index or item id currently writes to. */
  readonly #open = new Map<string | number, Slot>();
  #text = "";
  #reasoning = "";
  details: Json[] = [];
  /** The wire had a field of its own for reasoning, so it may want it back. */
  ownReasoningField = false;

  constructor(call: TransportCall) {
    this.#call = call;
  }

  get reasoning(): string {
    return this.#reasoning;
  }

  addText(piece: string): TransportEvent[] {
    return this.#scrubbed(this.#scrubber.push(piece));
  }

  addReasoning(piece: string): TransportEvent[] {
    if (piece === "") return [];
    this.#reasoning += piece;
    return [{ type: "reasoning", text: piece }];
  }

  #scrubbed({ text, reasoning }: { text: string; reasoning: string }): TransportEvent[] {
    const events = this.addReasoning(reasoning);
    if (text === "") return events;
    this.#text += text;
    // Text after the beginning of a tool call is kept but not shown: it is rarely meant for the person.
    if (this.#slots.length === 0) events.push({ type: "text", text });
    return events;
  }

  /** A piece of a tool call. A new id under a known key opens another call; a name replaces, it never grows. */
  addCall(
    key: string | number,
    piece: { id?: string | undefined; name?: string; args?: string | undefined },
  ): TransportEvent[] {
    let slot = this.#open.get(key);
    if (!slot || (piece.id && slot.id !== "" && slot.id !== piece.id)) {
      slot = { id: "", name: "", args: "", announced: false, extra: undefined };
      this.#slots.push(slot);
      this.#open.set(key, slot);
    }
    if (piece.id) slot.id = piece.id;
    if (piece.name) slot.name = piece.name;
    slot.args += piece.args ?? "";
    if (slot.announced || slot.name === "") return [];
    slot.announced = true;
    return [{ type: "tool_call_started", name: slot.name }];
  }

  /** Replaces what was gathered for a call by its final form. */
  settleCall(key: string | number, args: string): void {
    const slot = this.#open.get(key);
    if (slot) slot.args = args;
  }

  setExtra(key: string | number, extra: ToolCall["extra_content"]): void {
    const slot = this.#open.get(key);
    if (slot) slot.extra = extra;
  }

  /** Flushes held text; call once, before `message`. */
  end(): TransportEvent[] {
    return this.#scrubbed(this.#scrubber.end());
  }

  /** True when some call's arguments are not whole JSON. */
  get truncated(): boolean {
    return this.#slots.some((slot) => slot.args.trim() !== "" && truncated(slot.args));
  }

  get hasCalls(): boolean {
    return this.#slots.some((slot) => slot.name !== "");
  }

  get isEmpty(): boolean {
    return this.#text === "" && this.#reasoning === "" && this.#slots.length === 0;
  }

  #calls(): ToolCall[] {
    const ids = new CallIds(this.#call.request.messages);
    return this.#slots
      .filter((slot) => slot.name !== "")
      .map((slot, index) => {
        const args = slot.args.trim() === "" ? "{}" : slot.args;
        return {
          id: ids.claim(slot.id, slot.name, args, index),
          type: "function" as const,
          function: { name: slot.name, arguments: args },
          ...(slot.extra === undefined ? {} : { extra_content: slot.extra }),
        };
      });
  }

  /** The whole message, in the stored shape. */
  message(finishReason: string, extra: Partial<AssistantMessage> = {}): AssistantMessage {
    const calls = this.#calls();
    return {
      role: "assistant",
      content: this.#text === "" && calls.length > 0 ? null : this.#text,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
      finish_reason: finishReason,
      ...(this.#reasoning === "" ? {} : { reasoning: this.#reasoning }),
      ...(this.ownReasoningField && this.#reasoning !== "" ? { reasoning_content: this.#reasoning } : {}),
      ...(this.details.length > 0 ? { reasoning_details: this.details } : {}),
      ...extra,
    };
  }

  /** What had arrived when the stream ended badly: text and reasoning, never half a tool call. */
  arrived(): Arrived {
    this.end();
    if (this.isEmpty) return {};
    const partial: AssistantMessage = {
      role: "assistant",
      content: this.#text,
      ...(this.#reasoning === "" ? {} : { reasoning: this.#reasoning }),
    };
    return { partial, inToolCall: this.#slots.length > 0 };
  }
}
