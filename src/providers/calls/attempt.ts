// One call to one endpoint with one key: its events are passed on, its end is measured and entered in the ledger.
import type { AssistantMessage } from "../../core/message.ts";
import type { ModelRequest } from "../../core/provider.ts";
import { type Cost, type LedgerEntry, NO_USAGE, promptTokens, type Usage, type UsageLedger } from "../../core/usage.ts";
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
import { amendmentsOf, type Changes, quirksWith, requestWith } from "./amend.ts";

/** What every attempt needs; the same for all of a client. */
export interface AttemptTools {
  readonly credentials: Credentials;
  readonly ledger: UsageLedger;
  readonly facts: ModelFacts;
  readonly cacheTtl: "5m" | "1h";
  transport(name: Endpoint["transport"]): Promise<Transport>;
  /** Told of trouble with the ledger or the key file: neither may stop an answer. */
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
  /** The person's own price, when it is meant for this model. */
  readonly prices?: Prices | undefined;
}

export interface AttemptEnd {
  readonly done?: TransportDone | undefined;
  readonly cost: Cost;
  /** As reported, or estimated for an answer that broke off. */
  readonly usage: Usage;
  readonly error?: unknown;
  /** Text that was passed on. */
  readonly text: string;
  /** Anything was passed on: text, reasoning, the start of a tool call. */
  readonly delivered: boolean;
  readonly toolStarted: boolean;
  /** When something last arrived; the start of the call when nothing did. */
  readonly lastLife: number;
}

const FREE: Cost = { usd: 0, status: "estimated", source: "none" };

/** Sign-in tokens of the maker are sent as bearer tokens, to the maker's own host only. */
function authStyle(plan: AttemptPlan): Pick<TransportCall["endpoint"], "authStyle"> {
  const { spec, transport } = plan.endpoint;
  const value = plan.lease.value ?? "";
  if (spec.id === "azure-foundry") return { authStyle: "api-key" };
  if (spec.id !== "anthropic" || transport !== "anthropic_messages") return {};
  const signIn = (value.startsWith("sk-ant-") && !value.startsWith("sk-ant-api")) || value.startsWith("eyJ");
  return signIn ? { authStyle: "bearer" } : {};
}

/** The transport's call, built anew from the request and the changes: nothing of an earlier attempt sticks to it. */
function callOf(plan: AttemptPlan, tools: AttemptTools): TransportCall {
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
    amend: amendmentsOf(changes),
    ...(tools.fetch ? { fetch: tools.fetch } : {}),
  };
}

function reached(error: unknown): boolean {
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
  lastLife = Date.now();
  done: TransportDone | undefined;
  error: unknown;
  cost: Cost = FREE;
  usage: Usage = NO_USAGE;
  readonly #listed: Promise<Prices | undefined>;

  constructor(plan: AttemptPlan, tools: AttemptTools) {
    this.plan = plan;
    this.tools = tools;
    // The price list is fetched beside the call, so that knowing the cost never delays the answer.
    this.#listed = this.#known(undefined)
      ? Promise.resolve(undefined)
      : tools.facts.prices(plan.endpoint, plan.lease.value).catch(() => undefined);
  }

  #known(listed: Prices | undefined) {
    return pricesFor(this.plan.endpoint, { override: this.plan.prices, listed });
  }

  note(event: TransportEvent): void {
    this.lastLife = Date.now();
    if (event.type === "done") {
      this.done = event;
      return;
    }
    this.delivered = true;
    if (event.type === "text") this.text += event.text;
    if (event.type === "reasoning") this.reasoning += event.text;
    if (event.type === "tool_call_started") this.toolStarted = true;
  }

  async #costOf(usage: Usage): Promise<Cost> {
    const reported = this.done?.reportedCostUsd;
    if (reported !== undefined) return { usd: reported, status: "actual", source: "provider_cost_api" };
    return calculateCost(this.plan.endpoint, usage, this.#known(await this.#listed));
  }

  /** For an answer that broke off: what the server had told, completed by an estimate of what was passed on. */
  #brokenUsage(): Usage {
    const { error, plan } = this;
    const message: AssistantMessage = { role: "assistant", content: this.text, reasoning: this.reasoning };
    const estimate = estimatedUsage(plan.request, message);
    const told = error instanceof TransportError ? error.usage : undefined;
    if (told === undefined || promptTokens(told) === 0) return estimate;
    return { ...told, output: Math.max(told.output, estimate.output) };
  }

  async #record(outcome: LedgerEntry["outcome"]): Promise<void> {
    const { request, endpoint } = this.plan;
    const usage = this.done?.usage ?? (this.delivered ? this.#brokenUsage() : NO_USAGE);
    this.usage = usage;
    // A refused call is not charged; one that broke off is, by about what had been read and written.
    this.cost = this.done || this.delivered ? await this.#costOf(usage) : FREE;
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

  /** Books the attempt. Runs on every way out, also when the reader walks away. */
  async finish(): Promise<void> {
    if (this.error !== undefined && !reached(this.error)) return;
    const interrupted = this.done === undefined && (this.error === undefined || this.plan.signal.aborted);
    const outcome = this.done ? "ok" : interrupted ? "interrupted" : "failed";
    const { credentials, onError } = this.tools;
    if (this.done) credentials.noteUseLater(this.plan.lease, onError);
    const counted = this.done ? Promise.resolve() : credentials.noteUse(this.plan.lease, false);
    const results = await Promise.allSettled([this.#record(outcome), counted]);
    for (const result of results) if (result.status === "rejected") onError(result.reason);
  }

  end(): AttemptEnd {
    const { done, cost, usage, error, text, delivered, toolStarted, lastLife } = this;
    return {
      cost,
      usage,
      text,
      delivered,
      toolStarted,
      lastLife,
      ...(done ? { done } : {}),
      ...(error === undefined ? {} : { error }),
    };
  }
}

/** Yields what the transport says before its end; returns how it ended. Never throws. */
export async function* runAttempt(
  plan: AttemptPlan,
  tools: AttemptTools,
): AsyncGenerator<Exclude<TransportEvent, TransportDone>, AttemptEnd> {
  const attempt = new Attempt(plan, tools);
  try {
    const transport = await tools.transport(plan.endpoint.transport);
    for await (const event of transport.stream(callOf(plan, tools))) {
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

/** A broken-off answer that can be continued from where it stopped: text had been shown, and no tool call had begun. */
export function acceptablePartial(end: AttemptEnd): AssistantMessage | undefined {
  const { error } = end;
  if (!(error instanceof TransportError) || error.status !== undefined || error.kind === "aborted") return undefined;
  if (end.text.trim() === "" || end.toolStarted || error.inToolCall) return undefined;
  const { tool_calls: _unfinished, ...message } = error.partial ?? { role: "assistant" as const, content: end.text };
  return { ...message, content: message.content ?? end.text, finish_reason: "incomplete" };
}
