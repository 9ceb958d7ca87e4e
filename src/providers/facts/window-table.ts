// Context windows of model families, in tokens, from the model data. The longest matching part of the model name wins.
import { MODEL_DATA } from "../catalog/model-data.ts";

/** Used where neither the server nor the table knows the window. */
export const DEFAULT_WINDOW = 256_000;

/** Dots and underscores count as dashes. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[._]/g, "-");
}

const FAMILIES: readonly (readonly [string, number])[] = MODEL_DATA.flatMap(({ rows }) =>
  rows.flatMap(({ name, window }) => (window === undefined ? [] : [[plain(name), window] as const])),
);

/** The window of the family; undefined for unknown names. */
export function familyWindow(model: string): number | undefined {
  const name = plain(model);
  let best: readonly [string, number] | undefined;
  for (const family of FAMILIES) {
    if (name.includes(family[0]) && family[0].length > (best?.[0].length ?? 0)) best = family;
  }
  return best?.[1];
}
