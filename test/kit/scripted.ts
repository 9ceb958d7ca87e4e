// Contracts for tests of the loop: a model that follows a script, a plain context engine, a set of tools.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { noMemory } from "../../src/agent/delegation/no-memory.ts";
import type { AgentSettings, ConversationParts } from "../../src/agent/parts.ts";
import type { CompressOutcome, ContextEngine } from "../../src/core/context.ts";
import type { AgentEvent } from "../../src/core/event.ts";
import type { Failure } from "../../src/core/failure.ts";
import { noHooks } from "../../src/core/hook.ts";
import { absentHuman } from "../../src/core/human.ts";
import type { AssistantMessage, JsonObject, Message, ToolCall } from "../../src/core/message.ts";
import type {
  ModelEvent,
  ModelIdentity,
  ModelRequest,
  ModelResponse,
  Provider,
  SideModel,
} from "../../src/core/model/provider.ts";
import type { SessionStore } from "../../src/core/store/session.ts";
import type { Cost, Usage } from "../../src/core/store/usage.ts";
import type { Tool, ToolBox } from "../../src/core/tool/tool.ts";
import { openSessionStore } from "../../src/store/open.ts";

export const IDENTITY: ModelIdentity = {
  provider: "scripted",
  model: "script-1",
  baseUrl: "http://127.0.0.1:1/v1",
  transport: "chat_completions",
};

const USAGE: Usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
const COST: Cost = { usd: 0.01, status: "estimated", source: "user_override" };

/** One reply of the model. */
export type Reply = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent>;

export interface ResponseDetails {
  readonly finishReason?: string;
  readonly usage?: Usage;
  readonly cost?: Cost;
  readonly reasoning?: string;
}

function done(message: AssistantMessage, details: ResponseDetails): ModelEvent {
  const finishReason = details.finishReason ?? (message.tool_calls === undefined ? "stop" : "tool_calls");
  const response: ModelResponse = {
    message: {
      ...message,
      finish_reason: finishReason,
      ...(details.reasoning === undefined ? {} : { reasoning: details.reasoning }),
    },
    finishReason,
    usage: details.usage ?? USAGE,
    cost: details.cost ?? COST,
    identity: IDENTITY,
  };
  return { type: "done", response };
}

/** Answers with text, streamed in two pieces. */
export function says(text: string, details: ResponseDetails = {}): Reply {
  return async function* () {
    const middle = Math.ceil(text.length / 2);
    if (text !== "") yield { type: "text", text: text.slice(0, middle) };
    if (text.length > middle) yield { type: "text", text: text.slice(middle) };
    yield done({ role: "assistant", content: text === "" ? null : text }, details);
  };
}

let callNumber = 0;

export function call(name: string, args: JsonObject | string = {}, id = `call_${++callNumber}`): ToolCall {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return { id, type: "function", function: { name, arguments: text } };
}

/** Asks for tools, with optional text before. */
export function uses(calls: readonly ToolCall[], details: ResponseDetails & { text?: string } = {}): Reply {
  return async function* () {
    if (details.text !== undefined) yield { type: "text", text: details.text };
    for (const one of calls) yield { type: "tool_call_started", name: one.function.name };
    yield done({ role: "assistant", content: details.text ?? null, tool_calls: calls }, details);
  };
}

export function fails(failure: Failure, streamed = ""): Reply {
  return async function* () {
    if (streamed !== "") yield { type: "text", text: streamed };
    yield { type: "failed", failure };
  };
}

/** Streams some text and then hangs, ignoring its signal. */
export function hangs(streamed = ""): Reply {
  return async function* () {
    if (streamed !== "") yield { type: "text", text: streamed };
    await new Promise(() => undefined);
  };
}

export interface ScriptedProvider extends Provider {
  /** Copies of all requests. */
  readonly asked: ModelRequest[];
  turnsBegun: number;
}

/** Follows the script, then repeats the last reply; a function may decide by the request. */
export function scripted(script: readonly Reply[]): ScriptedProvider {
  const asked: ModelRequest[] = [];
  return {
    asked,
    turnsBegun: 0,
    identity: IDENTITY,
    caching: { enabled: false, label: "none" },
    limits: async () => ({ contextLength: 100_000, source: "config" }),
    beginTurn() {
      this.turnsBegun += 1;
    },
    stream(request, signal) {
      const reply = script[asked.length] ?? script.at(-1) ?? says("ok");
      asked.push(structuredClone(request));
      return reply(request, signal);
    },
  };
}

export interface PlainEngine extends ContextEngine {
  lastPromptTokens: number;
  lastCompletionTokens: number;
  lastTotalTokens: number;
  thresholdTokens: number;
  contextLength: number;
  compressionCount: number;
  readonly calls: string[];
}

/** Keeps the last `keep` messages behind a one-line summary; `how` replaces that. */
export function plainEngine(
  options: { threshold?: number; keep?: number; how?: (messages: readonly Message[]) => CompressOutcome } = {},
): PlainEngine {
  const keep = options.keep ?? 2;
  const calls: string[] = [];
  return {
    name: "plain",
    calls,
    lastPromptTokens: 0,
    lastCompletionTokens: 0,
    lastTotalTokens: 0,
    thresholdTokens: options.threshold ?? 1_000_000,
    contextLength: 2_000_000,
    compressionCount: 0,
    updateFromResponse(usage) {
      this.lastPromptTokens = usage.promptTokens;
    },
    shouldCompress(tokens) {
      return (tokens ?? this.lastPromptTokens) >= this.thresholdTokens;
    },
    async compress(messages) {
      calls.push("compress");
      this.compressionCount += 1;
      if (options.how !== undefined) return options.how(messages);
      if (messages.length <= keep) return { messages, method: "none", modelCalls: 0 };
      const summary: Message = { role: "user", content: "[CONTEXT COMPACTION] earlier parts" };
      let start = messages.length - keep;
      while (start > 0 && messages[start]?.role === "tool") start--;
      return { messages: [summary, ...messages.slice(start)], method: "summary", modelCalls: 1 };
    },
    async onSessionStart(id, details) {
      calls.push(`start:${details.boundaryReason ?? "new"}`);
      void id;
    },
    async onSessionEnd() {
      calls.push("end");
    },
    updateModel(_model, contextLength) {
      this.contextLength = contextLength;
      this.thresholdTokens = Math.min(this.thresholdTokens, Math.floor(contextLength / 2));
    },
  };
}

export function toolBox(tools: readonly Tool[]): ToolBox {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  return {
    schemas: tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters as unknown as JsonObject,
    })),
    find: (name) => byName.get(name),
    unavailable: () => undefined,
  };
}

export const hangingSide: SideModel = {
  ask: async () => ({ ok: false, failure: { kind: "not_configured", message: "no side model" } }),
  contextLength: async () => 100_000,
};

export interface LoopFixture extends AsyncDisposable {
  readonly dir: string;
  readonly store: SessionStore;
  parts(overrides?: PartOverrides): ConversationParts;
}

export type PartOverrides = Partial<Omit<ConversationParts, "settings" | "toolbox">> & {
  readonly settings?: Partial<AgentSettings>;
  readonly tools?: readonly Tool[];
  readonly script?: readonly Reply[];
};

/** Parts around a store that is open already. */
export function partsFor(store: SessionStore, dir: string, overrides: PartOverrides = {}): ConversationParts {
  const { settings, tools, script, ...rest } = overrides;
  return {
    store,
    provider: scripted(script ?? [says("ok")]),
    engine: plainEngine(),
    toolbox: toolBox(tools ?? []),
    memory: noMemory,
    hooks: noHooks,
    human: absentHuman,
    side: hangingSide,
    systemPrompt: async () => "You are a test.",
    settings: { source: "cli", cwd: dir, spillDir: join(dir, "spill"), titles: false, ...settings },
    ...rest,
  };
}

/** A real store in a fresh folder and parts around it; removed when disposed. */
export async function openLoopFixture(): Promise<LoopFixture> {
  const dir = await mkdtemp(join(tmpdir(), "hermes-agent-"));
  const store = await openSessionStore({ path: join(dir, "state.db") });
  return {
    dir,
    store,
    parts: (overrides) => partsFor(store, dir, overrides),
    async [Symbol.asyncDispose]() {
      await store.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export async function collect(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const all: AgentEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

export type Ended = Extract<AgentEvent, { type: "ended" }>;

/** The one `ended` of a turn; throws when there is none, more than one, or something after it. */
export function findEnd(events: readonly AgentEvent[]): Ended {
  const ends = events.filter((event): event is Ended => event.type === "ended");
  const [end] = ends;
  if (end === undefined || ends.length !== 1 || events.at(-1) !== end)
    throw new Error(`expected exactly one last "ended", got ${ends.length} in ${events.map((e) => e.type).join(" ")}`);
  return end;
}
