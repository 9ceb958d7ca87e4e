// Models with a faster processing tier at a higher price.
import type { ModelIdentity } from "./provider.ts";

const PROVIDERS: readonly string[] = ["openai", "openai-codex", "openrouter"];
const MODELS = /(?:^|\/)(?:gpt-(?:[5-9]|4\.1|4o)|o3|o4-mini)/;

/** True when requests to the model may ask for priority processing. */
export function supportsPriority({ provider, model }: ModelIdentity): boolean {
  return PROVIDERS.includes(provider) && MODELS.test(model.toLowerCase());
}
