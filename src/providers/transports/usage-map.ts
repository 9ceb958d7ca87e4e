// Converts the usage that each dialect reports.
import type { AssistantMessage, JsonObject } from "../../core/message.ts";
import type { ModelRequest } from "../../core/model/provider.ts";
import {
  estimateMessagesTokens,
  estimateMessageTokens,
  estimateSchemaTokens,
  estimateTextTokens,
} from "../../core/model/tokens.ts";
import type { Usage } from "../../core/store/usage.ts";
import { isJsonObject } from "./json-values.ts";

function count(...values: unknown[]): number {
  const found = values.find((value) => typeof value === "number" && Number.isFinite(value) && value > 0);
  return typeof found === "number" ? Math.floor(found) : 0;
}

function sub(usage: JsonObject, key: string): JsonObject {
  const value = usage[key];
  return isJsonObject(value) ? value : {};
}

/** Chat completions: the prompt total includes cached tokens, for which hosts use several field names. */
export function chatUsage(usage: JsonObject): Usage {
  const prompt = sub(usage, "prompt_tokens_details");
  const completion = sub(usage, "completion_tokens_details");
  const total = count(usage.prompt_tokens, usage.input_tokens);
  const cacheRead = Math.min(
    total,
    count(prompt.cached_tokens, usage.prompt_cache_hit_tokens, usage.cache_read_input_tokens, usage.cached_tokens),
  );
  const written = count(prompt.cache_write_tokens, usage.cache_creation_input_tokens);
  const cacheWrite = Math.min(total - cacheRead, written);
  return {
    input: total - cacheRead - cacheWrite,
    output: count(usage.completion_tokens, usage.output_tokens),
    cacheRead,
    cacheWrite,
    reasoning: count(completion.reasoning_tokens, usage.reasoning_tokens),
  };
}

/** Anthropic: uncached, read and written prompt tokens are separate numbers. */
export function anthropicUsage(usage: JsonObject): Usage {
  return {
    input: count(usage.input_tokens),
    output: count(usage.output_tokens),
    cacheRead: count(usage.cache_read_input_tokens),
    cacheWrite: count(usage.cache_creation_input_tokens),
    reasoning: count(sub(usage, "output_tokens_details").thinking_tokens),
  };
}

/** Responses: like chat completions, with other field names. */
export function responsesUsage(usage: JsonObject): Usage {
  const total = count(usage.input_tokens);
  const details = sub(usage, "input_tokens_details");
  const cacheRead = Math.min(total, count(details.cached_tokens));
  return {
    input: total - cacheRead,
    output: count(usage.output_tokens),
    cacheRead,
    cacheWrite: 0,
    reasoning: count(sub(usage, "output_tokens_details").reasoning_tokens),
  };
}

/** For servers that report no usage. */
export function estimatedUsage(request: ModelRequest, message: AssistantMessage): Usage {
  const input =
    estimateTextTokens(request.system) + estimateMessagesTokens(request.messages) + estimateSchemaTokens(request.tools);
  const reasoning = estimateTextTokens(message.reasoning ?? "");
  return { input, output: estimateMessageTokens(message) + reasoning, cacheRead: 0, cacheWrite: 0, reasoning };
}
