// Long generated conversations with planted facts, for tests of compaction. The same seed gives the same conversation.
import type { Message } from "../../src/core/message.ts";
import { estimateMessagesTokens } from "../../src/core/model/tokens.ts";

export interface LongConversation {
  readonly messages: readonly Message[];
  readonly task: string;
  /** Each fact with words that find it in a search. */
  readonly facts: readonly { readonly value: string; readonly query: string }[];
}

/** Mulberry32: small, even enough, reproducible. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const WORDS =
  "server client request parser module branch commit deploy schema index cursor buffer stream packet handler config render layout widget cache".split(
    " ",
  );
const NAMES = "atlas borealis cobalt dorado ember falcon gamma helios indigo juniper kestrel lumen".split(" ");

class Generator {
  readonly messages: Message[] = [];
  readonly facts: { value: string; query: string }[] = [];
  readonly #random: () => number;
  /** Share of rounds without tools: a conversation without tool results has little to prune. */
  readonly #talk: number;
  #calls = 0;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
    this.#talk = seed % 2 === 0 ? 0.25 : 0.85;
  }

  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.#random() * values.length)] as T;
  }

  prose(words: number): string {
    let text = "";
    for (let count = 0; count < words; count++) text += `${this.pick(WORDS)}${count % 9 === 8 ? ".\n" : " "}`;
    return text.trim();
  }

  fact(): string {
    const name = `${this.pick(NAMES)}-${this.facts.length + 1}`;
    const value = String(10_000 + Math.floor(this.#random() * 89_999));
    this.facts.push({ value, query: name });
    return `The code of ${name} is ${value}.`;
  }

  round(size: number): void {
    const dice = this.#random();
    const last = this.messages.at(-1)?.role;
    if (dice < this.#talk) {
      if (last === "user") this.messages.push({ role: "assistant", content: "Yes." });
      const fact = this.#random() < 0.5 ? ` ${this.fact()}` : "";
      this.messages.push({ role: "user", content: `Now look at the ${this.pick(WORDS)}: ${this.prose(12)}.${fact}` });
      this.messages.push({ role: "assistant", content: `Done with it. ${this.prose(this.#talk > 0.5 ? size : 30)}` });
      if (this.messages.length % 7 === 0)
        this.messages.push({ role: "user", content: "You must never rename the parser." });
      if (this.messages.at(-1)?.role === "user") this.messages.push({ role: "assistant", content: "Understood." });
      return;
    }
    if (last === "assistant") this.messages.push({ role: "user", content: "Go on." });
    const ids = this.#random() < 0.4 ? [this.#nextId(), this.#nextId()] : [this.#nextId()];
    this.messages.push({
      role: "assistant",
      content: this.#random() < 0.6 ? null : this.prose(10),
      tool_calls: ids.map((id) => ({
        id,
        type: "function",
        function: { name: "terminal", arguments: JSON.stringify({ command: `cat ${this.pick(WORDS)}.txt` }) },
      })),
    });
    for (const id of ids) {
      const fact = this.#random() < 0.15 ? `\n${this.fact()}` : "";
      const content = `${this.prose(1 + Math.floor(this.#random() * size))}${fact}`;
      this.messages.push({ role: "tool", tool_call_id: id, tool_name: "terminal", content });
    }
  }

  #nextId(): string {
    this.#calls++;
    return `call_${this.#calls}`;
  }
}

/** At least `tokens` long; ends inside a run of tools, after an answer or with a question, depending on the seed. */
export function longConversation(seed: number, tokens: number): LongConversation {
  const generator = new Generator(seed);
  const task = `Port project ${seed} to the new wire format: keep the v2 reader, write nothing under /etc, and report in French.`;
  generator.messages.push({ role: "user", content: task });
  const size = Math.min(900, Math.max(60, Math.floor(tokens / 60)));
  for (let made = 0, counted = 0; made < tokens; ) {
    generator.round(size);
    made += estimateMessagesTokens(generator.messages.slice(counted));
    counted = generator.messages.length;
  }
  if (seed % 3 === 0) {
    if (generator.messages.at(-1)?.role !== "assistant")
      generator.messages.push({ role: "assistant", content: "Ready." });
    generator.messages.push({ role: "user", content: `Last question of ${seed}: which reader stays, word for word?` });
  }
  return { messages: generator.messages, task, facts: generator.facts };
}

/** More turns for a conversation that continues after compaction. */
export function moreTurns(seed: number, tokens: number): LongConversation {
  const next = longConversation(seed + 10_000, tokens);
  const messages = next.messages.slice(1).map((message) => renumber(message, seed));
  const opening: Message[] = [
    { role: "assistant", content: "Noted." },
    { role: "user", content: "Go on with the next part." },
  ];
  return { ...next, messages: [...opening, ...messages] };
}

function renumber(message: Message, seed: number): Message {
  if (message.role === "tool") return { ...message, tool_call_id: `${message.tool_call_id}_${seed}` };
  if (message.role !== "assistant" || message.tool_calls === undefined) return message;
  return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: `${call.id}_${seed}` })) };
}
