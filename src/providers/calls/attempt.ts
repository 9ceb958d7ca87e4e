// One call to one endpoint with one key: yields its events and records its usage and cost in the ledger.
import type { AssistantMessage } from "../../core/message.ts";
import type { ModelRequest } from "../../core/model/provider.ts";
import {
  type Cost,
  type LedgerEntry,
  NO_USAGE,
  promptTokens,
  type Usage,
  type UsageLedger,
} from "../../core/store/usage.ts";
import type { Endpoint } from "../endpoint.ts";
import type { ModelFacts } from "../facts/limits.ts";
import { calculateCost, pricesFor } from "../facts/pricing.ts";
import type { Credentials, Lease } from "../keys/credentials.ts";
import type { ProviderQuirks } from "../quirks.ts";
import type { Prices } from "../settings.ts";
import {
  type Transport,
  type TransportCall,
  type TransportDone,
  TransportError,
  type TransportEvent,
  type TransportLimits,
} from "../transports/transport.ts";
import { estimatedUsage } from "../transports/usage-map.ts";
import { amendmentsFor, type Changes, quirksWith, requestWith } from "./amend.ts";

/** Shared by all attempts of a client. */
export interface AttemptTools {
  readonly credentials: Credentials;
  readonly ledger: UsageLedger;
  readonly facts: ModelFacts;
  readonly cacheTtl: "5m" | "1h";
  transport(name: Endpoint["transport"]): Promise<Transport>;
  /** Gets errors of the ledger and the key file: neither may stop an answer. */
  onError(error: unknown): void;
  readonly fetch?: typeof fetch | undefined;
}

export interface AttemptPlan {
  readonly endpoint: Endpoint;
  readonly request: ModelRequest;
  readonly lease: Lease;
  readonly quirks: ProviderQuirks;
  readonly changes: Changes;
  readonly timeouts: TransportLimits;
  readonly signal: AbortSignal;
  /** The price that the user set, when it applies to this model. */
  readonly prices?: Prices | undefined;
}

export interface AttemptEnd {
  readonly done?: TransportDone | undefined;
  readonly cost: Cost;
  /** As reported, or estimated for an incomplete answer. */
  readonly usage: Usage;
  readonly error?: unknown;
  /** The text that was yielded. */
  readonly text: string;
  /** True when anything was yielded: text, reasoning, the start of a tool call. */
  readonly delivered: boolean;
  readonly toolStarted: boolean;
  /** The time of the last event; the start of the call when there was none. */
  readonly lastEventAt: number;
}

const FREE: Cost = { usd: 0, status: "estimated", source: "none" };

/** Sign-in tokens of Anthropic are sent as bearer tokens, to the host of Anthropic only. */
function authStyle(plan: AttemptPlan): Pick<TransportCall["endpoint"], "authStyle"> {
  const { spec, transport } = plan.endpoint;
  const value = plan.lease.value ?? "";
  if (spec.id === "azure-foundry") return { authStyle: "api-key" };
  if (spec.id !== "anthropic" || transport !== "anthropic_messages") return {};
  const signIn = (value.startsWith("sk-ant-") && !value.startsWith("sk-ant-api")) || value.startsWith("eyJ");
  return signIn ? { authStyle: "bearer" } : {};
}

/** Built from the original request and the changes, so that nothing of an earlier attempt remains. */
function buildCall(plan: AttemptPlan, tools: AttemptTools): TransportCall {
  const { endpoint, changes } = plan;
  const request = requestWith(plan.request, changes);
  const extraBody = { ...endpoint.extraBody, ...request.extraBody };
  return {
    request: Object.keys(extraBody).length > 0 ? { ...request, extraBody } : request,
    endpoint: { baseUrl: endpoint.baseUrl, apiKey: plan.lease.value, headers: endpoint.headers, ...authStyle(plan) },
    model: endpoint.model,
    quirks: quirksWith(plan.quirks, changes),
    signal: plan.signal,
    timeouts: plan.timeouts,
    cacheTtl: tools.cacheTtl,
    amend: amendmentsFor(changes),
    fetch: tools.fetch,
  };
}

function reachedServer(error: unknown): boolean {
  return !(error instanceof TransportError && error.kind === "network");
}

class Attempt {
  readonly plan: AttemptPlan;
  readonly tools: AttemptTools;
  readonly startedAt = Date.now();
  text = "";
  reasoning = "";
  delivered = false;
  toolStarted = false;
  lastEventAt = Date.now();
  done: TransportDone | undefined;
  error: unknown;
  cost: Cost = FREE;
  usage: Usage = NO_USAGE;
  readonly #listedPrices: Promise<Prices | undefined>;

  constructor(plan: AttemptPlan, tools: AttemptTools) {
    this.plan = plan;
    this.tools = tools;
    // The price list is fetched during the call, so that it does not delay the answer.
    this.#listedPrices = this.#findPrices(undefined)
      ? Promise.resolve(undefined)
      : tools.facts.prices(plan.endpoint, plan.lease.value).catch(() => undefined);
  }

  #findPrices(listed: Prices | undefined) {
    return pricesFor(this.plan.endpoint, { override: this.plan.prices, listed });
  }

  note(event: TransportEvent): void {
    this.lastEventAt = Date.now();
    if (event.type === "done") {
      this.done = event;
      return;
    }
    this.delivered = true;
    if (event.type === "text") this.text += event.text;
    if (event.type === "reasoning") this.reasoning += event.text;
    if (event.type === "tool_call_started") this.toolStarted = true;
  }

  async #calculateCost(usage: Usage): Promise<Cost> {
    const reported = this.done?.reportedCostUsd;
    if (reported !== undefined) return { usd: reported, status: "actual", source: "provider_cost_api" };
    return calculateCost(this.plan.endpoint, usage, this.#findPrices(await this.#listedPrices));
  }

  /** For an incomplete answer: the usage that the server reported, with an estimate of the output. */
  #incompleteUsage(): Usage {
    const { error, plan } = this;
    const message: AssistantMessage = { role: "assistant", content: this.text, reasoning: this.reasoning };
    const estimate = estimatedUsage(plan.request, message);
    const reported = error instanceof TransportError ? error.usage : undefined;
    if (reported === undefined || promptTokens(reported) === 0) return estimate;
    return { ...reported, output: Math.max(reported.output, estimate.output) };
  }

  async #record(outcome: LedgerEntry["outcome"]): Promise<void> {
    const { request, endpoint } = this.plan;
    const usage = this.done?.usage ?? (this.delivered ? this.#incompleteUsage() : NO_USAGE);
    this.usage = usage;
    // A refused call costs nothing; an incomplete answer costs about what was read and written.
    this.cost = this.done || this.delivered ? await this.#calculateCost(usage) : FREE;
    await this.tools.ledger.record({
      at: this.startedAt / 1000,
      purpose: request.purpose,
      sessionId: request.sessionId ?? null,
      jobId: request.jobId ?? null,
      provider: endpoint.provider,
      model: endpoint.model,
      baseUrl: endpoint.baseUrl,
      usage,
      cost: this.cost,
      durationMs: Date.now() - this.startedAt,
      outcome,
    });
  }

  /** Records the attempt. Runs on every exit, including a consumer that stops early. */
  async finish(): Promise<void> {
    if (this.error !== undefined && !reachedServer(this.error)) return;
    const interrupted = this.done === undefined && (this.error === undefined || this.plan.signal.aborted);
    const outcome = this.done ? "ok" : interrupted ? "interrupted" : "failed";
    const { credentials, onError } = this.tools;
    if (this.done) credentials.noteUseLater(this.plan.lease, onError);
    const counted = this.done ? Promise.resolve() : credentials.noteUse(this.plan.lease, false);
    const results = await Promise.allSettled([this.#record(outcome), counted]);
    for (const result of results) if (result.status === "rejected") onError(result.reason);
  }

  end(): AttemptEnd {
    const { done, cost, usage, error, text, delivered, toolStarted, lastEventAt } = this;
    return {
      cost,
      usage,
      text,
      delivered,
      toolStarted,
      lastEventAt,
      done,
      error,
    };
  }
}

/** Yields the events of the transport and returns how the attempt ended. Never throws. */
export async function* runAttempt(
  plan: AttemptPlan,
  tools: AttemptTools,
): AsyncGenerator<Exclude<TransportEvent, TransportDone>, AttemptEnd> {
  const attempt = new Attempt(plan, tools);
  try {
    const transport = await tools.transport(plan.endpoint.transport);
    for await (const event of transport.stream(buildCall(plan, tools))) {
      attempt.note(event);
      if (event.type !== "done") yield event;
    }
    if (!attempt.done) attempt.error = new TransportError("the answer ended before it was complete", { kind: "cut" });
  } catch (error) {
    attempt.error = error;
  } finally {
    await attempt.finish();
  }
  return attempt.end();
}

/** An incomplete answer that can be continued: text was shown, and no tool call had begun. */
export function acceptablePartial(end: AttemptEnd): AssistantMessage | undefined {
  const { error } = end;
  if (!(error instanceof TransportError) || error.status !== undefined || error.kind === "aborted") return undefined;
  if (end.text.trim() === "" || end.toolStarted || error.inToolCall) return undefined;
  const { tool_calls: _unfinished, ...message } = error.partial ?? { role: "assistant" as const, content: end.text };
  return { ...message, content: message.content ?? end.text, finish_reason: "incomplete" };
}
