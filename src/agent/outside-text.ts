// The least trusted text of a conversation. It counts for all later turns, through compactions and restarts: the text,
// or a summary of it, is still in the window.
import type { TrustLog, TrustRow } from "../core/store/trust-log.ts";
import type { ToolResult } from "../core/tool/tool.ts";
import { isTainted, lessTrusted, OWN, type Provenance, trustByToolName } from "../core/trust.ts";

/** The trust of a tool's result: as stated by the tool, else by its name. A failed call without a statement read nothing. */
export function resultTrust(name: string, result: Pick<ToolResult, "trust" | "origin" | "failed">): Provenance {
  if (result.trust === undefined) return result.failed ? OWN : trustByToolName(name);
  if (result.trust === "own") return OWN;
  return { trust: result.trust, origin: result.origin ?? `the result of ${name}` };
}

export class OutsideText {
  readonly #log: TrustLog | undefined;
  #worst = OWN;
  #loaded = false;
  /** Rows that can be stored later: without them, a result counts as untrusted unless its tool is known to be safe. */
  #waiting: TrustRow[] = [];
  readonly #results = new Map<string, Provenance>();

  constructor(log: TrustLog | undefined) {
    this.#log = log;
  }

  get worst(): Provenance {
    return this.#worst;
  }

  /** Where the least trusted text came from; undefined when everything is the user's own. */
  get origin(): string | undefined {
    return this.#worst.origin;
  }

  tainted(userPresent: boolean): boolean {
    return isTainted(this.#worst, userPresent);
  }

  /** Reads the record of a resumed conversation, once. */
  async load(resumed: boolean, sessionId: string): Promise<void> {
    if (this.#loaded) return;
    if (resumed && this.#log) this.#worst = lessTrusted(this.#worst, await this.#log.read(sessionId));
    this.#loaded = true;
  }

  /** Text that is about to be stored or sent outside of a tool result. Durable before it resolves. */
  async add(sessionId: string, found: Provenance): Promise<void> {
    if (found.trust === "own") return;
    this.#worst = lessTrusted(this.#worst, found);
    await this.#log?.record([{ sessionId, messageId: null, ...found }]);
  }

  /** The result of a call; its row is recorded when the message is stored. */
  addResult(callId: string, found: Provenance): void {
    this.#worst = lessTrusted(this.#worst, found);
    this.#results.set(callId, found);
  }

  /** Called for each stored result of a tool. */
  stored(sessionId: string, messageId: number, call: { readonly id: string; readonly toolName: string }): void {
    const found = this.#results.get(call.id) ?? OWN;
    this.#results.delete(call.id);
    if (found.trust === "own" && trustByToolName(call.toolName).trust === "own") return;
    this.#waiting.push({ sessionId, messageId, callId: call.id, ...found });
  }

  /** Writes the rows of the turn in one transaction. */
  async flush(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    this.#results.clear();
    await this.#log?.record(rows);
  }
}
