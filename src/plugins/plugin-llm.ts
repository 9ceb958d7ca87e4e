// Model calls of plugins. By default only the configured model may be called; each call is recorded under the plugin's name.
import { UserError } from "../core/failure.ts";
import { contentText, type Json, type JsonObject, type Message } from "../core/message.ts";
import type { ModelConnector } from "../core/model/provider.ts";
import type { PluginLlm, PluginLlmAnswer, PluginLlmRequest } from "../core/plugin.ts";
import { underSignals } from "../lib/async/joined-signal.ts";
import { parseJson } from "../lib/json/parse-json.ts";

const DEFAULT_TIMEOUT_MS = 60_000;

export interface PluginLlmOptions {
  readonly plugin: string;
  /** `plugins.entries.<name>.llm`. */
  readonly trust: JsonObject;
  models(): Promise<ModelConnector>;
}

/** True when the list contains the name or `*`, or when there is no list. */
function isAllowed(list: unknown, name: string): boolean {
  if (!Array.isArray(list)) return true;
  const allowed = list.map((item) => String(item).toLowerCase());
  return allowed.includes("*") || allowed.includes(name.toLowerCase());
}

function checkTrust(options: PluginLlmOptions, request: PluginLlmRequest): void {
  const { trust, plugin } = options;
  const refuse = (what: "provider" | "model", value: string) => {
    throw new UserError(`plugin ${plugin} may not choose the ${what} "${value}"`, {
      hint: `Allow it with plugins.entries.${plugin}.llm.allow_${what}_override: true (and allowed_${what}s)`,
    });
  };
  const { provider, model } = request;
  if (provider && !(trust.allow_provider_override === true && isAllowed(trust.allowed_providers, provider)))
    refuse("provider", provider);
  if (model && !(trust.allow_model_override === true && isAllowed(trust.allowed_models, model))) refuse("model", model);
}

function requestMessages(request: PluginLlmRequest): readonly Message[] {
  const messages = request.messages ?? (request.prompt ? [{ role: "user" as const, content: request.prompt }] : []);
  if (messages.length === 0) throw new UserError("a model call needs a prompt or messages");
  return messages;
}

function complete(options: PluginLlmOptions, request: PluginLlmRequest): Promise<PluginLlmAnswer> {
  const sources = request.signal ? [request.signal] : [];
  return underSignals(sources, request.timeoutMs ?? DEFAULT_TIMEOUT_MS, (signal) =>
    completeWithSignal(options, request, signal),
  );
}

async function completeWithSignal(
  options: PluginLlmOptions,
  request: PluginLlmRequest,
  signal: AbortSignal,
): Promise<PluginLlmAnswer> {
  checkTrust(options, request);
  const models = await options.models();
  const { provider, model } = request;
  const connected = await models.connect({ provider: provider || undefined, model: model || undefined });
  const all = requestMessages(request);
  const system = [request.system, ...all.map((one) => (one.role === "system" ? contentText(one.content) : undefined))];
  connected.provider.beginTurn();
  const stream = connected.provider.stream(
    {
      system: system.filter(Boolean).join("\n\n"),
      messages: all.filter((message) => message.role !== "system"),
      tools: [],
      conversationId: `plugin-${options.plugin}`,
      purpose: `plugin:${options.plugin}`,
      maxOutputTokens: request.maxOutputTokens,
      temperature: request.temperature,
    },
    signal,
  );
  for await (const event of stream) {
    if (event.type === "failed") throw new UserError(event.failure.message);
    if (event.type !== "done") continue;
    const { message, identity, usage } = event.response;
    return {
      text: contentText(message.content),
      provider: identity.provider,
      model: identity.model,
      usage: { inputTokens: usage.input, outputTokens: usage.output },
    };
  }
  throw new UserError("the model did not answer");
}

/** The JSON value of an answer, with or without a code fence around it. */
function parseAnswer(text: string): Json {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n```\s*$/.exec(text)?.[1];
  const value = parseJson(fenced ?? text);
  if (value === undefined) throw new UserError("the model's answer is not JSON");
  return value as Json;
}

export function pluginLlm(options: PluginLlmOptions): PluginLlm {
  return {
    complete: (request) => complete(options, request),
    completeStructured: async (request) => {
      const schema = request.jsonSchema ? ` that fits this schema:\n${JSON.stringify(request.jsonSchema)}` : "";
      const system = [request.system, `Answer with one JSON value and nothing else${schema || "."}`];
      const answer = await complete(options, { ...request, system: system.filter(Boolean).join("\n\n") });
      return { ...answer, parsed: parseAnswer(answer.text) };
    },
  };
}
