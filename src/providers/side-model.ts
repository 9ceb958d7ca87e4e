// Calls of side models: summaries, titles, verdicts. Each task has its own model, time-out and ledger purpose.
import type { Failure } from "../core/failure.ts";
import { type Content, contentText, type JsonObject } from "../core/message.ts";
import type { ModelRequest, SideAnswer, SideModel, SideRequest } from "../core/model/provider.ts";
import { auxiliarySelection, taskConfig } from "./auxiliary-model.ts";
import { CATALOG } from "./catalog.ts";
import type { Models } from "./connect.ts";
import { type Endpoint, sameModel } from "./endpoint.ts";
import { type ModelSelection, resolveEndpoint } from "./resolve.ts";
import type { ProviderSettings } from "./settings.ts";

/** For tasks that the configuration does not know. */
const DEFAULT_SECONDS = 30;
/** How long a provider without credit is not used. */
const UNPAID_MS = 600_000;
const MAX_ATTEMPTS = 2;

/** A model named for one call; it replaces the configured one. */
export interface SideOverride {
  readonly ask?: ModelSelection | undefined;
  readonly timeoutMs?: number | undefined;
}

function buildContent({ prompt, images }: SideRequest): Content {
  if (!images || images.length === 0) return prompt;
  return [{ type: "text", text: prompt }, ...images.map((url) => ({ type: "image_url" as const, image_url: { url } }))];
}

/** The side calls of one conversation. `main` is its current model. */
export class SideModels implements SideModel {
  readonly #models: Models;
  readonly #main: Endpoint;
  readonly #unpaid = new Map<string, number>();

  constructor(models: Models, main: Endpoint) {
    this.#models = models;
    this.#main = main;
  }

  /** The models to try for a task, best first. A named provider has no substitutes. */
  async #candidates(
    task: string,
    override?: ModelSelection,
  ): Promise<{ endpoints: Endpoint[] } | { failure: Failure }> {
    const { settings } = this.#models;
    const { auxiliary } = settings.config;
    const configured = taskConfig(auxiliary, task);
    const ask = override ?? auxiliarySelection(auxiliary, task);
    const context = await this.#models.context();
    if (ask) {
      const found = resolveEndpoint(ask.model || ask.provider === "custom" ? ask : this.#withAuxModel(ask), context);
      return found.ok ? { endpoints: [found.endpoint] } : { failure: found.failure };
    }
    const main = configured?.model ? { ...this.#main, model: configured.model } : this.#main;
    const endpoints: Endpoint[] = [main];
    if (configured?.provider !== "main" && main.transport !== "offline") {
      for (const asked of [...settings.fallbacks, ...this.#autoAsks()]) {
        const found = resolveEndpoint(asked, context);
        if (found.ok && !endpoints.some((known) => sameModel(known, found.endpoint))) endpoints.push(found.endpoint);
      }
    }
    const now = Date.now();
    const { health } = this.#models;
    const available = endpoints.filter(
      (endpoint) => !health.isDown(endpoint) && (this.#unpaid.get(endpoint.provider) ?? 0) <= now,
    );
    return { endpoints: available.length > 0 ? available : endpoints };
  }

  #withAuxModel(ask: ModelSelection): ModelSelection {
    const spec = CATALOG.find((entry) => entry.id === ask.provider || entry.aliases?.includes(ask.provider ?? ""));
    return spec?.auxModel ? { ...ask, model: spec.auxModel } : ask;
  }

  /** After the main model and its fallbacks: the gateways, then the first provider that has a key and a cheap model. */
  *#autoAsks(): Generator<ModelSelection> {
    for (const id of ["openrouter", "nous"]) yield this.#withAuxModel({ provider: id });
    for (const spec of CATALOG) {
      if (spec.auxModel && !spec.explicitOnly && !spec.local && spec.id !== "anthropic") {
        yield { provider: spec.id, model: spec.auxModel };
      }
    }
  }

  #settingsFor(task: string, timeoutMs?: number): ProviderSettings {
    const { settings } = this.#models;
    const limit = timeoutMs ?? (taskConfig(settings.config.auxiliary, task)?.timeout ?? DEFAULT_SECONDS) * 1000;
    const time = {
      ...settings.time,
      turnMs: limit,
      firstTokenMs: limit,
      interTokenMs: limit,
      primaryMs: Math.min(settings.time.primaryMs, Math.ceil(limit / 2)),
      explicit: true,
    };
    return { ...settings, maxOutputTokens: undefined, time, maxRetries: Math.min(settings.maxRetries, MAX_ATTEMPTS) };
  }

  async ask(request: SideRequest, signal?: AbortSignal, override: SideOverride = {}): Promise<SideAnswer> {
    const candidates = await this.#candidates(request.task, override.ask);
    if ("failure" in candidates) return { ok: false, failure: candidates.failure };
    const [primary, ...fallbacks] = candidates.endpoints;
    if (!primary) return { ok: false, failure: { kind: "not_configured", message: `No model for ${request.task}` } };
    const client = this.#models.client(
      primary,
      fallbacks.slice(0, 2),
      this.#settingsFor(request.task, override.timeoutMs),
    );
    const call = this.#request(request);
    let last: SideAnswer = { ok: false, failure: { kind: "unknown", message: "No answer" } };
    for await (const event of client.stream(call, signal ?? new AbortController().signal)) {
      if (event.type === "fallback" && event.failure.kind === "billing")
        this.#unpaid.set(event.from.provider, Date.now() + UNPAID_MS);
      if (event.type === "failed") last = { ok: false, failure: event.failure };
      if (event.type === "done") {
        const { message, finishReason, identity, incomplete } = event.response;
        // An incomplete summary or verdict is useless; callers handle failures.
        last = incomplete
          ? { ok: false, failure: incomplete }
          : { ok: true, text: contentText(message.content), finishReason, identity };
      }
    }
    return last;
  }

  #request(request: SideRequest): ModelRequest {
    const config = taskConfig(this.#models.settings.config.auxiliary, request.task);
    const extraBody = (config?.extra_body ?? {}) as JsonObject;
    return {
      system: request.system ?? "",
      messages: [{ role: "user", content: buildContent(request) }],
      tools: [],
      conversationId: `side-${request.task}`,
      purpose: request.task,
      maxOutputTokens: request.maxOutputTokens,
      temperature: request.temperature,
      sessionId: request.sessionId,
      jobId: request.jobId,
      extraBody: Object.keys(extraBody).length > 0 ? extraBody : undefined,
    };
  }

  async contextLength(task: string): Promise<number> {
    const configured = taskConfig(this.#models.settings.config.auxiliary, task)?.context_length;
    if (configured !== undefined) return configured;
    const candidates = await this.#candidates(task);
    const endpoint = "endpoints" in candidates ? candidates.endpoints[0] : undefined;
    return (await this.#models.client(endpoint ?? this.#main, []).limits()).contextLength;
  }
}
