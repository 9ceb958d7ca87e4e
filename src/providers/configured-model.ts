// Models that the configuration names: the default, aliases, fallbacks and those of custom endpoints.
import type { ProviderSettings } from "./settings.ts";

export interface ConfiguredModel {
  readonly model: string;
  readonly provider?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/** The names by which a model may be asked for, each once. */
export function configuredModels(settings: ProviderSettings): readonly string[] {
  const names = [
    settings.model.model,
    ...Object.keys(settings.aliases),
    ...settings.fallbacks.map((fallback) => fallback.model),
    ...settings.endpoints.flatMap((endpoint) => [endpoint.model, ...Object.keys(endpoint.models)]),
  ];
  return [...new Set(names)].filter((name) => name !== "");
}

/** The model of that name; undefined when the configuration does not name it. */
export function configuredModel(settings: ProviderSettings, name: string): ConfiguredModel | undefined {
  if (name === "") return undefined;
  if (name === settings.model.model) return { model: name };
  if (Object.hasOwn(settings.aliases, name.toLowerCase())) return { model: name };
  const fallback = settings.fallbacks.find(({ model }) => model === name);
  if (fallback) return { model: name, provider: fallback.provider, baseUrl: fallback.baseUrl || undefined };
  const endpoint = settings.endpoints.find((each) => each.model === name || Object.hasOwn(each.models, name));
  return endpoint && { model: name, provider: `custom:${endpoint.slug}` };
}
