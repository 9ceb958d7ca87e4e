// The live state of one conversation that turns and compactions share.
import { estimateSchemaTokens, estimateTextTokens } from "../core/tokens.ts";
import { OutsideText } from "./outside-text.ts";
import type { ConversationParts } from "./parts.ts";
import type { SessionLog } from "./session-log.ts";
import type { Steering } from "./steering.ts";
import type { ResolvedTools } from "./tools/resolved-tools.ts";

export class ConversationState {
  parts: ConversationParts;
  readonly tools: ResolvedTools;
  readonly log: SessionLog;
  readonly steering: Steering;
  readonly outside: OutsideText;
  /** Turns begun in this process. */
  turns = 0;
  /** The session has a name. */
  named = false;
  /** The pressure notice is given once per session. */
  pressureShown = false;
  #reported: { readonly tokens: number; readonly messages: number } | undefined;
  #schemaTokens: number | undefined;

  constructor(parts: ConversationParts, made: { tools: ResolvedTools; log: SessionLog; steering: Steering }) {
    this.parts = parts;
    this.tools = made.tools;
    this.log = made.log;
    this.steering = made.steering;
    this.outside = new OutsideText(parts.store, made.log.conversationId);
  }

  now(): number {
    return this.parts.clock?.now() ?? Date.now();
  }

  /** What the provider counted for the log as it stands now. */
  reported(tokens: number): void {
    this.#reported = { tokens, messages: this.log.messages.length };
  }

  forgetReport(): void {
    this.#reported = undefined;
  }

  /** Tokens of the next request: the provider's last count plus what came since, else an estimate. */
  requestTokens(): number {
    const report = this.#reported;
    if (report !== undefined && report.tokens > 0) return report.tokens + this.log.tokens(report.messages);
    this.#schemaTokens ??= estimateSchemaTokens(this.tools.schemas);
    return estimateTextTokens(this.log.system) + this.#schemaTokens + this.log.tokens();
  }
}
