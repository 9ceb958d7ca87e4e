// Which model a side task asks for, from its section of the configuration.
import type { ModelAsk } from "./resolve.ts";
import type { AuxiliarySettings } from "./settings.ts";

/** What a task's settings say about the model: null for `auto`. */
export function auxiliaryAsk(settings: AuxiliarySettings | undefined): ModelAsk | null {
  if (!settings) return null;
  const { provider, model, baseUrl, apiKey, keyVar, transport, path } = settings;
  const named = provider !== "" && provider !== "auto" && provider !== "main";
  if (!named && baseUrl === "") return null;
  return {
    provider: named ? (provider === "codex" ? "openai-codex" : provider) : "custom",
    ...(model ? { model } : {}),
    ...(baseUrl ? { baseUrl } : {}),
    ...(apiKey ? { apiKey } : {}),
    ...(keyVar ? { keyVar } : {}),
    ...(transport ? { transport } : {}),
    ...(path ? { path } : {}),
  };
}
