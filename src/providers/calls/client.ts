// The client of a model: retries, key rotation, recoveries, fallbacks and spending caps, under one deadline per turn.
import { setTimeout as sleep } from "node:timers/promises";
import type { Failure } from "../../core/failure.ts";
import type { AssistantMessage } from "../../core/message.ts";
import type { ModelEvent, ModelIdentity, ModelLimits, ModelRequest, Provider } from "../../core/model/provider.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { type Endpoint, modelIdentity, sameModel } from "../endpoint.ts";
import type { Lease } from "../keys/credentials.ts";
import { nativeName } from "../native-name.ts";
import { cacheLayoutFor, type ProviderQuirks } from "../quirks.ts";
import type { ProviderSettings } from "../settings.ts";
import { TransportError, type TransportLimits } from "../transports/transport.ts";
import { type Changes, NO_CHANGES, withRecovery } from "./amend.ts";
import { type AttemptEnd, type AttemptTools, acceptablePartial, runAttempt } from "./attempt.ts";
import { bodySize, toCallError } from "./call-error.ts";
import { classify, type Verdict } from "./classify.ts";
import type { EndpointHealth } from "./endpoint-health.ts";
import { nextStep, type Step } from "./retry-plan.ts";
import { overCap } from "./spend-caps.ts";

export interface ClientOptions extends AttemptTools {
  readonly primary: Endpoint;
  readonly fallbacks: readonly Endpoint[];
  readonly settings: ProviderSettings;
  /** Gets the failures after which a fallback took over, and the answers. */
  readonly health?: EndpointHealth | undefined;
  readonly random?: (() => number) | undefined;
}

interface Turn {
  /** Shared by every retry, rotation and fallback. It restarts after each answer. */
  deadline: number;
  answered: boolean;
  /** Position in the chain; only moves forward within a turn. */
  index: number;
}

/** The state of one request on one endpoint. */
interface Stage {
  readonly endpoint: Endpoint;
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  readonly turn: Turn;
  changes: Changes;
  attempts: number;
  readonly triedKeys: Set<string>;
  readonly rateRefusals: Map<string, number>;
  lastEventAt: number;
}

type StageEnd =
  | { readonly leave: true; readonly failure: Failure; readonly delivered: boolean }
  | { readonly leave: false };

const ENDED: StageEnd = { leave: false };

function keyName(lease: Lease): string {
  return lease.entry?.id ?? (lease.source === "argument" ? "fixed" : lease.source.replace(/^env:/, ""));
}

export class ProviderClient implements Provider {
  readonly #options: ClientOptions;
  readonly #chain: readonly Endpoint[];
  #turn: Turn | undefined;
  #holdUntil = 0;

  constructor(options: ClientOptions) {
    this.#options = options;
    const chain: Endpoint[] = [options.primary];
    for (const fallback of options.fallbacks) {
      if (!chain.some((known) => sameModel(known, fallback))) chain.push(fallback);
    }
    this.#chain = chain;
  }

  get identity(): ModelIdentity {
    return modelIdentity(this.#options.primary);
  }

  get caching(): { readonly enabled: boolean; readonly label: string; readonly status: string } {
    const { primary, settings } = this.#options;
    const layout = cacheLayoutFor(primary.transport, primary.model, primary.spec.quirks ?? {});
    if (layout === null) return { enabled: false, label: "prompt caching: up to the provider", status: "" };
    const ttl = settings.config.prompt_caching.cache_ttl;
    const family = /claude/i.test(primary.model) ? "Claude" : primary.model;
    return {
      enabled: true,
      label: `prompt caching: on (${ttl}, ${layout})`,
      status: `Prompt caching: ENABLED (${family} via ${primary.spec.label}, ${ttl} TTL)`,
    };
  }

  /** The limits of the model in use, which may be a fallback. */
  async limits(signal?: AbortSignal): Promise<ModelLimits> {
    const endpoint = this.#chain[this.#turn?.index ?? 0] ?? this.#options.primary;
    return this.#endpointLimits(endpoint, signal);
  }

  #endpointLimits(endpoint: Endpoint, signal?: AbortSignal): Promise<ModelLimits> {
    const { facts, credentials } = this.#options;
    const key = async () => (await credentials.lease(endpoint.keys, endpoint.baseUrl))?.value ?? null;
    return facts.limits(endpoint, key, signal);
  }

  beginTurn(): void {
    this.#newTurn();
  }

  #newTurn(): Turn {
    const held = Date.now() < this.#holdUntil && this.#chain.length > 1;
    const deadline = Date.now() + this.#options.settings.time.turnMs;
    const turn = { deadline, answered: false, index: held ? 1 : 0 };
    this.#turn = turn;
    return turn;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const turn = this.#turn ?? this.#newTurn();
    if (turn.answered) turn.deadline = Date.now() + this.#options.settings.time.turnMs;
    turn.answered = false;
    try {
      yield* this.#tryChain(request, signal, turn);
    } catch (error) {
      const message = `The call could not be made: ${errorMessage(error)}`;
      yield { type: "failed", failure: { kind: "unknown", message } };
    }
  }

  async *#tryChain(request: ModelRequest, signal: AbortSignal, turn: Turn): AsyncGenerator<ModelEvent> {
    for (;;) {
      const endpoint = this.#chain[turn.index] ?? this.#options.primary;
      const stage: Stage = {
        endpoint,
        request,
        signal,
        turn,
        changes: NO_CHANGES,
        attempts: 0,
        triedKeys: new Set(),
        rateRefusals: new Map(),
        lastEventAt: Date.now(),
      };
      const end = yield* this.#tryEndpoint(stage);
      if (!end.leave) return;
      const { kind } = end.failure;
      this.#options.health?.failed(endpoint, kind);
      if (turn.index === 0 && (kind === "rate_limit" || kind === "billing"))
        this.#holdUntil = Date.now() + this.#options.settings.time.holdMs;
      turn.index++;
      const next = this.#chain[turn.index];
      if (!next) return;
      if (end.delivered) yield { type: "restarted" };
      yield { type: "fallback", from: modelIdentity(endpoint), to: modelIdentity(next), failure: end.failure };
    }
  }

  #hasFallback(turn: Turn): boolean {
    return turn.index + 1 < this.#chain.length;
  }

  /** Moves to the fallback if there is one; otherwise the request fails. */
  *#fallBackOrFail(stage: Stage, failure: Failure, end?: AttemptEnd): Generator<ModelEvent, StageEnd> {
    if (this.#hasFallback(stage.turn)) return { leave: true, failure, delivered: end?.delivered ?? false };
    yield this.#failed(failure, end);
    return ENDED;
  }

  #failed(failure: Failure, end?: AttemptEnd): ModelEvent {
    const partial = end?.error instanceof TransportError ? end.error.partial : undefined;
    return { type: "failed", failure, partial };
  }

  async *#tryEndpoint(stage: Stage): AsyncGenerator<ModelEvent, StageEnd> {
    const { endpoint, signal } = stage;
    const { credentials } = this.#options;
    for (;;) {
      const stop = await this.#stopBeforeCall(stage);
      if (stop) {
        yield { type: "failed", failure: stop };
        return ENDED;
      }
      const lease = await credentials.lease(endpoint.keys, endpoint.baseUrl, stage.triedKeys);
      if (!lease) return yield* this.#fallBackOrFail(stage, noKey(endpoint));
      stage.attempts++;
      const end = yield* runAttempt(await this.#plan(stage, lease), this.#options);
      if (end.delivered) stage.lastEventAt = end.lastEventAt;
      if (end.done) {
        stage.turn.answered = true;
        this.#options.health?.answered(endpoint);
        await this.#afterSuccess(endpoint);
        yield this.#doneEvent(endpoint, end, end.done);
        return ENDED;
      }
      if (signal.aborted) {
        yield this.#failed({ kind: "interrupted", message: "Interrupted" }, end);
        return ENDED;
      }
      const partial = acceptablePartial(end);
      if (partial) {
        yield this.#incomplete(stage, end, partial);
        return ENDED;
      }
      const verdict = await this.#classify(stage, end);
      const step = await this.#decide(stage, lease, verdict);
      const stageEnd = yield* this.#apply(stage, { step, verdict, lease, end });
      if (stageEnd) return stageEnd;
    }
  }

  async #stopBeforeCall(stage: Stage): Promise<Failure | undefined> {
    if (stage.signal.aborted) return { kind: "interrupted", message: "Interrupted" };
    const { settings, ledger } = this.#options;
    if (Date.now() >= stage.turn.deadline) {
      const seconds = Math.round(settings.time.turnMs / 1000);
      return {
        kind: "timeout",
        message: `The turn's time limit of ${seconds} s is reached`,
        hint: "Raise model.turn_timeout_seconds, or ask for less at once.",
      };
    }
    const { transport, spec } = stage.endpoint;
    if (transport === "offline" || spec.local === true) return undefined;
    return overCap(ledger, settings.config.budget, stage.request, Date.now());
  }

  async #plan(stage: Stage, lease: Lease) {
    const { endpoint, request, signal, changes } = stage;
    const { settings } = this.#options;
    const ours = settings.model.model === "" || nativeName(endpoint.spec.id, settings.model.model) === endpoint.model;
    return {
      endpoint,
      request:
        request.maxOutputTokens === undefined && settings.maxOutputTokens !== undefined && ours
          ? { ...request, maxOutputTokens: settings.maxOutputTokens }
          : request,
      lease,
      quirks: await this.#endpointQuirks(endpoint, lease),
      changes,
      timeouts: this.#timeouts(stage),
      signal,
      prices: ours ? settings.prices : undefined,
    };
  }

  /** Sends the window to Ollama: by default it uses a few thousand tokens and silently drops the rest. */
  async #endpointQuirks(endpoint: Endpoint, lease: Lease): Promise<ProviderQuirks> {
    const quirks = endpoint.spec.quirks ?? {};
    const maybeOllama = endpoint.spec.id === "ollama" || (endpoint.local && endpoint.baseUrl.includes(":11434"));
    if (!maybeOllama) return quirks;
    const facts = await this.#options.facts.server(endpoint, lease.value);
    const numCtx =
      this.#options.settings.config.model.ollama_num_ctx ?? (await this.#endpointLimits(endpoint)).contextLength;
    return facts?.ollama ? { ...quirks, reasoning: "ollama", numCtx } : quirks;
  }

  #timeouts(stage: Stage): TransportLimits {
    const { time } = this.#options.settings;
    const { endpoint } = stage;
    const turnLeft = Math.max(1, stage.turn.deadline - Date.now());
    const untimed = endpoint.local && !time.explicit;
    let firstTokenMs = endpoint.staleTimeoutMs ?? (untimed ? turnLeft : time.firstTokenMs);
    let idleMs = endpoint.staleTimeoutMs ?? (untimed ? turnLeft : time.interTokenMs);
    if (!untimed && !time.explicit && endpoint.staleTimeoutMs === undefined) {
      const { tokens } = bodySize(stage.request, 1);
      firstTokenMs = tokens > 100_000 ? 300_000 : tokens > 50_000 ? 240_000 : firstTokenMs;
    }
    if (this.#hasFallback(stage.turn)) {
      const share = Math.max(1, time.primaryMs - (Date.now() - stage.lastEventAt));
      firstTokenMs = Math.min(firstTokenMs, share);
      idleMs = Math.min(idleMs, time.primaryMs);
    }
    return { firstTokenMs, idleMs, totalMs: Math.min(endpoint.timeoutMs ?? turnLeft, turnLeft) };
  }

  async #classify(stage: Stage, end: AttemptEnd): Promise<Verdict> {
    const { endpoint, request } = stage;
    const { contextLength } = await this.#endpointLimits(endpoint);
    const failure = toCallError(end.error, () => bodySize(request, contextLength), Date.now());
    const verdict = classify(failure, endpoint);
    const named = verdict.failure.limitTokens;
    if (named !== undefined && named < contextLength) this.#options.facts.learn(endpoint, named);
    return verdict;
  }

  async #decide(stage: Stage, lease: Lease, verdict: Verdict): Promise<Step> {
    const { endpoint, turn } = stage;
    const { credentials, settings, random } = this.#options;
    const name = keyName(lease);
    if (verdict.failure.kind === "rate_limit") stage.rateRefusals.set(name, (stage.rateRefusals.get(name) ?? 0) + 1);
    const { time } = settings;
    return nextStep({
      verdict,
      attempts: stage.attempts,
      maxAttempts: settings.maxRetries,
      rateRefusals: stage.rateRefusals.get(name) ?? 0,
      otherKey: await credentials.hasOther(endpoint.keys, endpoint.baseUrl, new Set([...stage.triedKeys, name])),
      fallback: this.#hasFallback(turn),
      canRecover: withRecovery(stage.changes, verdict.actions) !== undefined,
      turnLeftMs: turn.deadline - Date.now(),
      shareLeftMs: time.primaryMs - (Date.now() - stage.lastEventAt),
      backoff: { baseMs: time.backoffBaseMs, maxMs: time.backoffMaxMs, random: (random ?? Math.random)() },
    });
  }

  /** Carries out the step; returns the end of the stage, or null to try again. */
  async *#apply(
    stage: Stage,
    now: { step: Step; verdict: Verdict; lease: Lease; end: AttemptEnd },
  ): AsyncGenerator<ModelEvent, StageEnd | null> {
    const { step, verdict, lease, end } = now;
    const { failure } = verdict;
    if ("coolDown" in step && step.coolDown) await this.#coolDown(lease, failure);
    switch (step.do) {
      case "fail":
        yield this.#failed(failure, end);
        return ENDED;
      case "fallback":
        return { leave: true, failure, delivered: end.delivered };
      case "rotate":
        stage.triedKeys.add(keyName(lease));
        stage.attempts = 0;
        break;
      case "recover":
        stage.changes = withRecovery(stage.changes, verdict.actions) ?? stage.changes;
        stage.attempts--;
        break;
      case "retry":
        break;
    }
    const inMs = step.do === "retry" ? step.inMs : 0;
    if (end.delivered) yield { type: "restarted" };
    yield { type: "retrying", failure, attempt: Math.max(1, stage.attempts), inMs };
    // An abort ends the pause; the loop checks the signal before the next call.
    if (inMs > 0) await sleep(inMs, undefined, { signal: stage.signal }).catch(() => undefined);
    return null;
  }

  async #coolDown(lease: Lease, failure: Failure): Promise<void> {
    const resetAt = failure.retryAfterMs === undefined ? undefined : Date.now() + failure.retryAfterMs;
    const refusal = { status: failure.status ?? null, reason: failure.kind, message: failure.message, resetAt };
    await this.#options.credentials.markExhausted(lease, refusal).catch((error) => this.#options.onError(error));
  }

  #doneEvent(endpoint: Endpoint, end: AttemptEnd, done: NonNullable<AttemptEnd["done"]>): ModelEvent {
    return {
      type: "done",
      response: {
        message: done.message,
        finishReason: done.finishReason,
        usage: done.usage,
        cost: end.cost,
        identity: modelIdentity(endpoint),
        rateLimits: done.rateLimits,
      },
    };
  }

  /** The received part of an answer. The conversation decides whether to request the rest. */
  #incomplete(stage: Stage, end: AttemptEnd, message: AssistantMessage): ModelEvent {
    const { endpoint } = stage;
    // An answer had begun, so the request was not too large.
    const details = toCallError(end.error, () => bodySize(stage.request, Number.POSITIVE_INFINITY), Date.now());
    const { failure } = classify(details, endpoint);
    const why = errorMessage(end.error);
    const incomplete: Failure = {
      ...failure,
      message: `${endpoint.label} broke off in the middle of its answer: ${why}`,
      hint: "The answer is incomplete. Ask it to continue, or send the message again.",
    };
    const identity = modelIdentity(endpoint);
    const { usage, cost } = end;
    return { type: "done", response: { message, finishReason: "incomplete", usage, cost, identity, incomplete } };
  }

  async #afterSuccess(endpoint: Endpoint): Promise<void> {
    const { facts, onError } = this.#options;
    await facts.persistLearnt(endpoint).catch(onError);
    facts.afterFirstAnswer(endpoint);
  }
}

function noKey(endpoint: Endpoint): Failure {
  const variable = endpoint.spec.keyVars?.[0];
  return {
    kind: "auth",
    message: `No key of ${endpoint.label} is left to try`,
    hint: `Run \`hermes auth add ${endpoint.provider}\`${variable ? `, or set ${variable}` : ""}.`,
    provider: endpoint.provider,
    model: endpoint.model,
  };
}
