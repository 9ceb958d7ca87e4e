// How a provider deviates from the plain dialect. The catalog sets these values, the transports read them.
import type { JsonObject } from "../core/message.ts";
import type { TransportName } from "../core/model/provider.ts";

/**
 * How reasoning effort is requested: `effort` is a top-level `reasoning_effort`; `openrouter` a `reasoning` object;
 * `thinking` a `thinking.type` switch; `kimi` and `deepseek` that switch beside an effort; `gemini` a
 * `thinking_config`; `qwen` an `enable_thinking` flag; `ollama` a `think` flag; `budget` Anthropic's token budget for
 * models that are not Claude; `none` nothing.
 */
export type ReasoningStyle =
  | "effort"
  | "openrouter"
  | "thinking"
  | "kimi"
  | "deepseek"
  | "gemini"
  | "qwen"
  | "ollama"
  | "budget"
  | "none";

/** Where prompt-cache marks go, and for which models: any of these pieces in the model's name, or `*`. */
export interface CacheMarkRule {
  readonly layout: "native" | "envelope";
  readonly models: readonly string[];
}

/** Every field is optional; an empty object means no deviation. */
export interface ProviderQuirks {
  readonly reasoning?: ReasoningStyle | undefined;
  /**
   * Which earlier reasoning is sent back over chat completions. `none` (default): nothing. `details`: opaque
   * `reasoning_details`. `content`: `reasoning_content` as stored. `echo`: the host refuses assistant messages
   * without `reasoning_content`, so a space is sent where nothing is stored.
   */
  readonly replay?: "none" | "details" | "content" | "echo" | undefined;
  readonly omitTemperature?: boolean | undefined;
  readonly fixedTemperature?: number | undefined;
  readonly defaultMaxTokens?: number | undefined;
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens" | undefined;
  /** Never send an output limit: the host refuses the field. */
  readonly omitMaxTokens?: boolean | undefined;
  /** False: use the `system` role even for models named gpt-5 or codex. */
  readonly developerRole?: boolean | undefined;
  /** Message contents are always lists of parts. */
  readonly contentAsParts?: boolean | undefined;
  /** Send `metadata: { sessionId, promptId }`. */
  readonly sessionMetadata?: boolean | undefined;
  /** Send `prompt_cache_key` over chat completions. */
  readonly promptCacheKey?: boolean | undefined;
  /** The context window for an Ollama server, sent as `options.num_ctx`. */
  readonly numCtx?: number | undefined;
  /** Header that carries the conversation id, for models whose name contains one of the pieces. */
  readonly conversationHeader?: { readonly name: string; readonly models: readonly string[] };
  /** Send `extra_content` of tool calls back (thought signatures). Other hosts refuse the unknown field. */
  readonly extraContent?: boolean | undefined;
  /** The host refuses `stream_options`. */
  readonly noStreamUsage?: boolean | undefined;
  /** The host cannot stream. */
  readonly noStream?: boolean | undefined;
  readonly cacheMarks?: CacheMarkRule | undefined;
  /**
   * Thinking blocks over the Anthropic dialect. `signed` (default on api.anthropic.com): signed blocks are sent back.
   * `strip` (default elsewhere): none are. `unsigned`: blocks are sent back with or without a signature.
   */
  readonly thinkingBlocks?: "signed" | "strip" | "unsigned" | undefined;
  /** False: encrypted reasoning items are neither requested nor sent back. */
  readonly encryptedReasoning?: boolean | undefined;
  /** Only models whose name contains one of these accept an effort. */
  readonly effortModels?: readonly string[] | undefined;
  /** Tool schemas without `pattern` and `format`, for servers that turn schemas into grammars. */
  readonly plainSchemas?: boolean | undefined;
  /** The host accepts only call ids of nine letters and digits. */
  readonly callIds?: "nine" | undefined;
  /** Merged into every body, before the fields of the user. */
  readonly extraBody?: JsonObject | undefined;
}

function named(model: string, pieces: readonly string[]): boolean {
  const name = model.toLowerCase();
  return pieces.some((piece) => piece === "*" || name.includes(piece.toLowerCase()));
}

/** True when the rule names the model. */
export function appliesTo(model: string, pieces: readonly string[] | undefined): boolean {
  return pieces === undefined || named(model, pieces);
}

/** Where cache marks go for this model; null when they do not help. Claude over the Anthropic dialect always has them. */
export function cacheLayoutFor(
  transport: TransportName,
  model: string,
  quirks: ProviderQuirks,
): "native" | "envelope" | null {
  if (quirks.cacheMarks && named(model, quirks.cacheMarks.models)) return quirks.cacheMarks.layout;
  return transport === "anthropic_messages" && named(model, ["claude"]) ? "native" : null;
}
