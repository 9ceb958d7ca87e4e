// Base class of the built-in context engines: token counters, the trigger, and the guard against passes without gain.
import type { EngineStatus, EngineUsage } from "../../core/context.ts";
import type { Message } from "../../core/message.ts";
import { estimateMessagesTokens } from "../../core/model/tokens.ts";
import { type CompactionSettings, DEFAULT_COMPACTION, MIN_SAVING, thresholdTokens } from "./budget.ts";

/** After two passes without gain, none is started until the request has grown by this share of the window. */
const REST_GROWTH = 0.05;

export abstract class EngineBase {
  lastPromptTokens = 0;
  lastCompletionTokens = 0;
  lastTotalTokens = 0;
  thresholdTokens: number;
  contextLength: number;
  compressionCount = 0;
  protected readonly settings: CompactionSettings;
  #fruitless = 0;
  #restUntil = 0;
  #overhead = 0;

  constructor(contextLength: number, settings: Partial<CompactionSettings> = {}) {
    this.settings = { ...DEFAULT_COMPACTION, ...settings };
    this.contextLength = contextLength;
    this.thresholdTokens = thresholdTokens(contextLength, this.settings.threshold);
  }

  updateFromResponse(usage: EngineUsage): void {
    this.lastPromptTokens = usage.promptTokens;
    this.lastCompletionTokens = usage.completionTokens;
    this.lastTotalTokens = usage.totalTokens;
  }

  shouldCompress(promptTokens?: number): boolean {
    const tokens = promptTokens ?? this.lastPromptTokens;
    if (!this.settings.enabled || tokens < this.thresholdTokens) return false;
    return this.#fruitless < 2 || tokens >= this.#restUntil;
  }

  shouldCompressPreflight(messages: readonly Message[]): boolean {
    if (messages.length <= this.settings.protectFirstN + 1) return false;
    return this.shouldCompress(estimateMessagesTokens(messages) + this.#overhead);
  }

  updateModel(_model: string, contextLength: number): void {
    this.contextLength = contextLength;
    this.thresholdTokens = thresholdTokens(contextLength, this.settings.threshold);
    this.#fruitless = 0;
  }

  onSessionReset(): void {
    this.lastPromptTokens = 0;
    this.lastCompletionTokens = 0;
    this.lastTotalTokens = 0;
    this.compressionCount = 0;
    this.#fruitless = 0;
    this.#overhead = 0;
  }

  getStatus(): EngineStatus {
    return {
      lastPromptTokens: this.lastPromptTokens,
      thresholdTokens: this.thresholdTokens,
      contextLength: this.contextLength,
      compressionCount: this.compressionCount,
      usagePercent:
        this.contextLength > 0 ? Math.min(100, Math.round((this.lastPromptTokens / this.contextLength) * 100)) : 0,
    };
  }

  /** Tokens of the request that are not messages, from what the caller measured. */
  protected estimateOverhead(before: number, currentTokens: number | undefined): number {
    this.#overhead = Math.max(0, (currentTokens ?? before + this.#overhead) - before);
    return this.#overhead;
  }

  /** Records a pass; true when it saved enough to be used. */
  protected settle(before: number, after: number): boolean {
    const savedEnough = after <= before * (1 - MIN_SAVING);
    if (!savedEnough) {
      this.#fruitless++;
      this.#restUntil = before + this.#overhead + Math.floor(this.contextLength * REST_GROWTH);
      return false;
    }
    this.#fruitless = 0;
    this.compressionCount++;
    this.lastPromptTokens = after + this.#overhead;
    return true;
  }
}
