// Writes a turn as the event stream of the Responses API.
import type { AgentEvent } from "../../core/event.ts";
import type { JsonObject } from "../../core/message.ts";
import type { AbsentHuman } from "./absent-human.ts";
import { newId } from "./api-context.ts";
import { messageItem, type ResponseHead, responseObject, textPart, toItems, toStatus } from "./response-object.ts";
import type { Sse } from "./sse.ts";
import { isShown, type TurnResult } from "./turn.ts";

interface OpenText {
  readonly id: string;
  readonly index: number;
  text: string;
}

export class ResponseWriter {
  readonly #head: ResponseHead;
  readonly #stream: Sse;
  readonly #output: JsonObject[] = [];
  #open: OpenText | undefined;
  #sequence = 0;

  constructor(head: ResponseHead, stream: Sse) {
    this.#head = head;
    this.#stream = stream;
  }

  #emit(type: string, data: JsonObject): Promise<void> {
    const event = { type, sequence_number: this.#sequence++, ...data };
    return this.#stream.send(event, { event: type });
  }

  async begin(): Promise<void> {
    const response = responseObject(this.#head, { status: "in_progress", output: [] });
    await this.#emit("response.created", { response });
    await this.#emit("response.in_progress", { response });
  }

  async show(event: AgentEvent): Promise<void> {
    if (event.type === "delta" && event.kind === "text") return this.#text(event.text);
    if (event.type === "restarted") return this.#closeText();
    if (event.type === "tool_progress" && isShown(event.name))
      return this.#stream.raw(`: ${event.name} ${event.text.replaceAll(/\s+/g, " ").slice(0, 200)}\n\n`);
    if (event.type !== "message" || event.message.role === "user") return;
    const streamed = this.#open !== undefined;
    await this.#closeText();
    for (const item of toItems(event.message, this.#head.clientTools))
      if (!(streamed && item.type === "message")) await this.#item(item);
  }

  async #text(delta: string): Promise<void> {
    if (!this.#open) {
      this.#open = { id: newId("msg_", 28), index: this.#output.length, text: "" };
      const { id, index } = this.#open;
      const item = messageItem(id, null, "in_progress");
      this.#output.push(item);
      await this.#emit("response.output_item.added", { output_index: index, item });
      const place = { item_id: id, output_index: index, content_index: 0 };
      await this.#emit("response.content_part.added", { ...place, part: textPart("") });
    }
    const { id, index } = this.#open;
    this.#open.text += delta;
    const place = { item_id: id, output_index: index, content_index: 0 };
    await this.#emit("response.output_text.delta", { ...place, delta, logprobs: [] });
  }

  async #closeText(): Promise<void> {
    const open = this.#open;
    if (!open) return;
    this.#open = undefined;
    const item = messageItem(open.id, open.text, "completed");
    this.#output[open.index] = item;
    const place = { item_id: open.id, output_index: open.index, content_index: 0 };
    await this.#emit("response.output_text.done", { ...place, text: open.text, logprobs: [] });
    await this.#emit("response.content_part.done", { ...place, part: textPart(open.text) });
    await this.#emit("response.output_item.done", { output_index: open.index, item });
  }

  async #item(item: JsonObject): Promise<void> {
    const index = this.#output.push(item) - 1;
    await this.#emit("response.output_item.added", { output_index: index, item: { ...item, status: "in_progress" } });
    await this.#emit("response.output_item.done", { output_index: index, item });
  }

  /** Closes open items and returns the finished object. */
  async end(result: TurnResult, { note, denied }: Pick<AbsentHuman, "note" | "denied">): Promise<JsonObject> {
    await this.#closeText();
    if (note !== "") await this.#text(note);
    await this.#closeText();
    const status = toStatus(result);
    const response = responseObject(this.#head, { status, output: [...this.#output], result, denied });
    await this.#emit(`response.${status}`, { response });
    return response;
  }
}
