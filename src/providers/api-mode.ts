// Chooses the wire dialect of a model: an explicit setting, then rules per model, then rules per URL.
import type { TransportName } from "../core/model/provider.ts";
import { parseHost } from "./keys/key-hosts.ts";
import { bareModel, isReasoningModel, isResponsesModel } from "./name-rules.ts";
import type { ProviderSpec } from "./provider-spec.ts";

function byModel(provider: string, model: string): TransportName | undefined {
  const name = bareModel(model);
  switch (provider) {
    case "opencode-zen":
      if (name.startsWith("claude-")) return "anthropic_messages";
      return name.startsWith("gpt-") ? "codex_responses" : "chat_completions";
    case "opencode-go":
      return name.startsWith("minimax-") ? "anthropic_messages" : "chat_completions";
    case "copilot":
      if (name.startsWith("claude-")) return "chat_completions";
      return isResponsesModel(name) && !name.startsWith("gpt-5-mini") ? "codex_responses" : "chat_completions";
    case "azure-foundry":
      return isReasoningModel(name) ? "codex_responses" : undefined;
    default:
      return undefined;
  }
}

function byUrl(url: string): TransportName | undefined {
  const host = parseHost(url);
  if (host === undefined) return undefined;
  const path = new URL(url).pathname.replace(/\/+$/, "");
  if (path.endsWith("/anthropic") || host === "api.anthropic.com") return "anthropic_messages";
  if (host === "api.kimi.com" && path.startsWith("/coding")) return "anthropic_messages";
  return host === "api.openai.com" || host === "api.x.ai" ? "codex_responses" : undefined;
}

const CHAT_ONLY_PROVIDERS = new Set(["nous", "azure-foundry", "copilot", "copilot-acp", "opencode-zen", "opencode-go"]);

export interface ApiModeOptions {
  readonly spec: ProviderSpec;
  readonly model: string;
  readonly baseUrl: string;
  readonly local: boolean;
  readonly explicit?: TransportName | undefined;
}

export function apiMode(options: ApiModeOptions): TransportName {
  const { spec, model } = options;
  if (spec.transport === "offline") return "offline";
  if (options.explicit) return options.explicit;
  const ruled = byModel(spec.id, model);
  if (ruled) return ruled;
  const mode = byUrl(options.baseUrl) ?? spec.transport;
  const upgrade = mode === "chat_completions" && isResponsesModel(model);
  return upgrade && !options.local && !CHAT_ONLY_PROVIDERS.has(spec.id) ? "codex_responses" : mode;
}
