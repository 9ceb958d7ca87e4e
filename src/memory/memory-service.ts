// The memory of a conversation: the built-in notes and at most one external provider, whose errors are isolated.
import type { Hooks } from "../core/hook.ts";
import { noHooks } from "../core/hook.ts";
import type { Memory, MemoryInit, MemoryProvider, MemoryWrite } from "../core/memory.ts";
import type { JsonObject, Message } from "../core/message.ts";
import type { ToolSchema } from "../core/model/provider.ts";
import { settlesWithin } from "../lib/async/with-timeout.ts";
import { errorMessage } from "../lib/error-message.ts";
import { fenceRecall, stripRecall } from "./fence.ts";
import { isolate } from "./isolate.ts";
import type { Notes, NotesChange, NotesResult, NoteTarget } from "./notes.ts";

/** Time limits for calls to the provider, in milliseconds. */
export interface MemoryDeadlines {
  readonly initialize: number;
  readonly prefetch: number;
  readonly tool: number;
  readonly hook: number;
}

const DEADLINES: MemoryDeadlines = { initialize: 10_000, prefetch: 5_000, tool: 60_000, hook: 5_000 };

/** How long `close` waits for background work. */
const CLOSE_WAIT_MS = 2_000;

export interface MemoryServiceOptions {
  readonly notes: Notes;
  /** The first provider is used; a warning is reported for every other one. */
  readonly providers?: readonly MemoryProvider[] | undefined;
  readonly init: MemoryInit;
  readonly hooks?: Hooks | undefined;
  /** Receives warnings about a provider that is not used, failed or was too slow. */
  readonly onWarning?: ((text: string) => void) | undefined;
  readonly deadlines?: Partial<MemoryDeadlines> | undefined;
}

export type NoteAction =
  | { readonly action: "add"; readonly content: string }
  | { readonly action: "replace"; readonly content: string; readonly oldText: string }
  | { readonly action: "remove"; readonly oldText: string };

type SwitchDetails = Parameters<Memory["sessionSwitched"]>[1];

export class MemoryService implements Memory {
  readonly #notes: Notes;
  readonly #hooks: Hooks;
  readonly #warn: (text: string) => void;
  readonly #deadlines: MemoryDeadlines;
  readonly #background = new Set<Promise<void>>();
  #provider: MemoryProvider | undefined;
  #snapshot: Promise<string> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: MemoryServiceOptions) {
    this.#notes = options.notes;
    this.#hooks = options.hooks ?? noHooks;
    this.#warn = options.onWarning ?? (() => undefined);
    this.#deadlines = { ...DEADLINES, ...options.deadlines };
  }

  /** Starts the provider. When it is not available or fails to start, only the notes are used. */
  static async open(options: MemoryServiceOptions): Promise<MemoryService> {
    const service = new MemoryService(options);
    const [first, ...others] = options.providers ?? [];
    for (const other of others) {
      service.#warn(`Memory provider ${other.name} is not used: ${first?.name} is active, and only one can be used.`);
    }
    if (first === undefined) return service;
    service.#provider = first;
    if (!(await service.#call("isAvailable", false, () => first.isAvailable()))) {
      service.#warn(`Memory provider ${first.name} is not available. Check its settings with: hermes memory status`);
      service.#provider = undefined;
      return service;
    }
    const start = async () => {
      await first.initialize(options.init);
      return true;
    };
    if (!(await service.#call("initialize", false, start, service.#deadlines.initialize)))
      service.#provider = undefined;
    return service;
  }

  /** The active external provider. */
  get providerName(): string | undefined {
    return this.#provider?.name;
  }

  snapshot(): Promise<string> {
    this.#snapshot ??= this.#buildSnapshot();
    return this.#snapshot;
  }

  async recall(query: string, sessionId: string): Promise<string> {
    const provider = this.#provider;
    if (provider === undefined) return "";
    const text = await this.#call("prefetch", "", () => provider.prefetch(query, sessionId), this.#deadlines.prefetch);
    return fenceRecall(typeof text === "string" ? text : "");
  }

  async turnStarted(turn: number, text: string): Promise<void> {
    await this.#hook("onTurnStart", (provider) => provider.onTurnStart?.(turn, text));
  }

  turnEnded(user: string, assistant: string, sessionId: string): void {
    const provider = this.#provider;
    if (provider === undefined) return;
    const work = this.#call("syncTurn", undefined, () => {
      provider.syncTurn(stripRecall(user), stripRecall(assistant), sessionId);
      provider.queuePrefetch(stripRecall(user), sessionId);
    });
    this.#runInBackground(work);
  }

  /** Also discards the snapshot, so that the next session starts with the current notes. */
  async beforeCompaction(messages: readonly Message[]): Promise<string> {
    this.#snapshot = undefined;
    const provider = this.#provider;
    if (provider?.onPreCompress === undefined) return "";
    const text = await this.#call("onPreCompress", "", () => provider.onPreCompress?.(messages) ?? "");
    return typeof text === "string" ? stripRecall(text) : "";
  }

  async sessionSwitched(newSessionId: string, details: SwitchDetails): Promise<void> {
    this.#snapshot = undefined;
    await this.#hook("onSessionSwitch", (provider) => provider.onSessionSwitch?.(newSessionId, details));
  }

  async sessionEnded(messages: readonly Message[]): Promise<void> {
    await this.#hook("onSessionEnd", (provider) => provider.onSessionEnd?.(messages));
  }

  async delegated(task: string, result: string, childSessionId: string): Promise<void> {
    await this.#hook("onDelegation", (provider) => provider.onDelegation?.(task, result, childSessionId));
  }

  get toolSchemas(): readonly ToolSchema[] {
    try {
      return (this.#provider?.getToolSchemas() ?? []).filter((schema) => schema.name !== "memory");
    } catch (error) {
      this.#warn(`Memory provider ${this.#provider?.name}: ${errorMessage(error)}`);
      return [];
    }
  }

  async callTool(name: string, args: JsonObject): Promise<string> {
    const provider = this.#provider;
    const failed = JSON.stringify({ error: `${name} failed: the memory provider did not answer.` });
    if (provider === undefined)
      return JSON.stringify({ error: `${name} is not available: no memory provider is active.` });
    return this.#call(`tool ${name}`, failed, () => provider.handleToolCall(name, args), this.#deadlines.tool);
  }

  writes(name: string, args: JsonObject): boolean {
    try {
      return this.#provider?.writes?.(name, args) ?? true;
    } catch (error) {
      this.#warn(`Memory provider ${this.#provider?.name}: ${errorMessage(error)}`);
      return true;
    }
  }

  /** Changes the notes; the provider and hooks are notified when the file has changed. */
  async write(target: NoteTarget, change: NoteAction, metadata: MemoryWrite["metadata"]): Promise<NotesResult> {
    const source = metadata.session_id === undefined ? "assistant" : `session ${metadata.session_id}`;
    const outcome = await this.#apply(target, change, source);
    if (outcome.changed) {
      const content = change.action === "remove" ? (outcome.removed ?? change.oldText) : change.content;
      const write: MemoryWrite = { action: change.action, target, content, metadata };
      await this.#hook("onMemoryWrite", (provider) => provider.onMemoryWrite?.(write));
      if (this.#hooks.listens("on_memory_write")) await this.#hooks.run("on_memory_write", { ...write });
    }
    return outcome.result;
  }

  /** Idempotent. Waits a short time for background work, then shuts the provider down. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await settlesWithin(Promise.all(this.#background), Math.min(CLOSE_WAIT_MS, this.#deadlines.hook));
    await this.#hook("shutdown", (provider) => provider.shutdown());
    this.#provider = undefined;
  }

  #apply(target: NoteTarget, change: NoteAction, source: string): Promise<NotesChange> {
    if (change.action === "add") return this.#notes.add(target, change.content, source);
    if (change.action === "replace") return this.#notes.replace(target, change, source);
    return this.#notes.remove(target, change.oldText, source);
  }

  async #buildSnapshot(): Promise<string> {
    const report = (problem: string) => this.#warn(`The notes could not be read: ${problem}`);
    const notes = await isolate(() => this.#notes.snapshot(), "", { ms: this.#deadlines.hook, report });
    if (notes !== "")
      this.#runInBackground(isolate(() => this.#notes.markUsed(), undefined, { ms: this.#deadlines.hook, report }));
    const provider = this.#provider;
    if (provider === undefined) return notes;
    const block = await this.#call("systemPromptBlock", "", () => provider.systemPromptBlock());
    return [notes, stripRecall(typeof block === "string" ? block : "")].filter((text) => text !== "").join("\n\n");
  }

  #runInBackground(work: Promise<void>): void {
    this.#background.add(work);
    void work.finally(() => this.#background.delete(work));
  }

  async #hook(name: string, run: (provider: MemoryProvider) => Promise<void> | undefined): Promise<void> {
    const provider = this.#provider;
    if (provider !== undefined) await this.#call(name, undefined, () => run(provider));
  }

  #call<T>(what: string, fallback: T, run: () => Promise<T> | T, ms = this.#deadlines.hook): Promise<T> {
    const name = this.#provider?.name;
    const report = (problem: string) => this.#warn(`Memory provider ${name}, ${what}: ${problem}`);
    return isolate(run, fallback, { ms, report });
  }
}
