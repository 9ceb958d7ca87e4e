// Changes to a request after a refusal. Each attempt is built from the original request and these changes.
import type { ModelRequest } from "../../core/model/provider.ts";
import type { ProviderQuirks } from "../quirks.ts";
import type { Amendments } from "../transports/transport.ts";
import type { Actions, Recovery } from "./classify.ts";

const MAX_IMAGE_BYTES = 4 * 1024 * 1024;

/** The recoveries tried so far on one endpoint, and the output limit that it named. */
export interface Changes {
  readonly tried: ReadonlySet<Recovery>;
  readonly maxOutputTokens?: number | undefined;
}

export const NO_CHANGES: Changes = { tried: new Set() };

/** The changes after one more recovery; undefined when it was tried before (an image that is still too large is dropped). */
export function withRecovery(changes: Changes, actions: Actions): Changes | undefined {
  const asked = actions.recovery;
  if (asked === undefined) return undefined;
  const recovery = asked === "shrink_images" && changes.tried.has(asked) ? "drop_images" : asked;
  if (changes.tried.has(recovery)) return undefined;
  return {
    ...changes,
    tried: new Set([...changes.tried, recovery]),
    maxOutputTokens: actions.maxOutputTokens ?? changes.maxOutputTokens,
  };
}

export function amendmentsFor(changes: Changes): Amendments {
  const { tried } = changes;
  return {
    stripReasoning: tried.has("strip_thinking"),
    stripImages: tried.has("drop_images"),
    maxImageBytes: tried.has("shrink_images") ? MAX_IMAGE_BYTES : undefined,
    plainSchemas: tried.has("strip_schema_patterns"),
    omitTemperature: tried.has("drop_temperature"),
    omitMaxTokens: tried.has("drop_max_tokens"),
  };
}

export function quirksWith(quirks: ProviderQuirks, changes: Changes): ProviderQuirks {
  return changes.tried.has("no_stream") ? { ...quirks, noStream: true } : quirks;
}

export function requestWith(request: ModelRequest, changes: Changes): ModelRequest {
  let changed = request;
  if (changes.maxOutputTokens !== undefined) changed = { ...changed, maxOutputTokens: changes.maxOutputTokens };
  if (changes.tried.has("drop_reasoning")) {
    const { reasoningEffort: _dropped, ...rest } = changed;
    changed = rest;
  }
  return changed;
}
