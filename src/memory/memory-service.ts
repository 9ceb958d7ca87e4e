// Memory as a conversation sees it: the built-in notes, and at most one external provider that can break nothing.
import type { Hooks } from "../core/hook.ts";
import { noHooks } from "../core/hook.ts";
import type { Memory, MemoryInit, MemoryProvider, MemoryWrite } from "../core/memory.ts";
import type { JsonObject, Message } from "../core/message.ts";
import type { ToolSchema } from "../core/provider.ts";
import { fenceRecall, stripRecall } from "./fence.ts";
import { isolate } from "./isolate.ts";
import type { Notes, NotesChange, NotesResult, NoteTarget } from "./notes.ts";

export interface MemoryDeadlines {
  readonly initialize: number;
  readonly prefetch: number;
  readonly tool: number;
  readonly hook: number;
}

const DEADLINES: MemoryDeadlines = { initialize: 10_000, prefetch: 5_000, tool: 60_000, hook: 5_000 };

/** How long work that was begun before is waited for when the memory closes. */
const BACKGROUND_MS = 2_000;

export interface MemoryServiceOptions {
  readonly notes: Notes;
  /** In order of precedence. The first is used; every further one is refused with a warning. */
  readonly providers?: readonly MemoryProvider[] | undefined;
  readonly init: MemoryInit;
  readonly hooks?: Hooks | undefined;
  /** For the person or the log: a provider that was refused, failed or was slow. */
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

  /** Starts the provider. One that is not available or fails to start is left out; the notes always work. */
  static async open(options: MemoryServiceOptions): Promise<MemoryService> {
    const service = new MemoryService(options);
    const [first, ...others] = options.providers ?? [];
    for (const other of others) {
      service.#warn(`Memory provider ${other.name} is not used: ${first?.name} is active, and only one can be.`);
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

  /** The external provider that is active. */
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
    this.#later(work);
  }

  /** Also the moment at which the notes are read again: the session that follows opens with fresh ones. */
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
      this.#warn(`Memory provider ${this.#provider?.name}: ${error instanceof Error ? error.message : String(error)}`);
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
      this.#warn(`Memory provider ${this.#provider?.name}: ${error instanceof Error ? error.message : String(error)}`);
      return true;
    }
  }

  /** Changes the notes; provider and hooks hear of it only when the file has changed. */
  async write(target: NoteTarget, change: NoteAction, metadata: MemoryWrite["metadata"]): Promise<NotesResult> {
    const source = metadata.session_id === undefined ? "assistant" : `session ${metadata.session_id}`;
    const made = await this.#apply(target, change, source);
    if (made.changed) {
      const content = change.action === "remove" ? (made.removed ?? change.oldText) : change.content;
      const write: MemoryWrite = { action: change.action, target, content, metadata };
      await this.#hook("onMemoryWrite", (provider) => provider.onMemoryWrite?.(write));
      if (this.#hooks.listens("on_memory_write")) await this.#hooks.run("on_memory_write", { ...write });
    }
    return made.result;
  }

  /** The provider is shut down once, however often this is called; what it still does is not waited for long. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, Math.min(BACKGROUND_MS, this.#deadlines.hook));
    });
    await Promise.race([Promise.all(this.#background), late]);
    clearTimeout(timer);
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
      this.#later(isolate(() => this.#notes.markUsed(), undefined, { ms: this.#deadlines.hook, report }));
    const provider = this.#provider;
    if (provider === undefined) return notes;
    const block = await this.#call("systemPromptBlock", "", () => provider.systemPromptBlock());
    return [notes, stripRecall(typeof block === "string" ? block : "")].filter((text) => text !== "").join("\n\n");
  }

  #later(work: Promise<void>): void {
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
