// The model that a side task uses, from its section of the configuration.
import type { Config } from "../core/config/config.ts";
import type { ModelSelection } from "./resolve.ts";
import { findTransport } from "./settings.ts";

type TaskConfig = Config["auxiliary"]["approval"] & { readonly context_length?: number | undefined };

/** The section of a task; undefined for tasks that the configuration does not know. */
export function taskConfig(auxiliary: Config["auxiliary"], task: string): TaskConfig | undefined {
  const tasks: { readonly [task: string]: TaskConfig } = auxiliary;
  return Object.hasOwn(tasks, task) ? tasks[task] : undefined;
}

/** The model that the section names; null for `auto` and `main`. */
export function auxiliarySelection(auxiliary: Config["auxiliary"], task: string): ModelSelection | null {
  const config = taskConfig(auxiliary, task);
  if (!config) return null;
  const { provider, model, base_url: baseUrl, api_key: apiKey } = config;
  const named = provider !== "" && provider !== "auto" && provider !== "main";
  if (!named && baseUrl === "") return null;
  return {
    provider: named ? (provider === "codex" ? "openai-codex" : provider) : "custom",
    model,
    baseUrl,
    apiKey,
    transport: findTransport(config.api_mode),
    path: `auxiliary.${task}`,
  };
}
