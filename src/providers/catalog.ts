// The catalog of providers, with lookup by id and alias.
import { nearest } from "../lib/nearest.ts";
import { DIRECT } from "./catalog/direct.ts";
import { GATEWAYS } from "./catalog/gateways.ts";
import { HOSTS } from "./catalog/hosts.ts";
import { LOCAL } from "./catalog/local.ts";
import { SIGN_IN } from "./catalog/sign-in.ts";
import type { ProviderSpec } from "./provider-spec.ts";

/** In the order in which `auto` looks for a key. */
export const CATALOG: readonly ProviderSpec[] = [
  ...GATEWAYS.slice(0, 1),
  ...DIRECT,
  ...GATEWAYS.slice(1),
  ...HOSTS,
  ...SIGN_IN,
  ...LOCAL,
];

const BY_ID = new Map(CATALOG.map((spec) => [spec.id, spec]));
const BY_ALIAS = new Map(CATALOG.flatMap((spec) => (spec.aliases ?? []).map((alias) => [alias, spec] as const)));

export function providerById(id: string): ProviderSpec | undefined {
  return BY_ID.get(id.trim().toLowerCase());
}

export function providerByAlias(alias: string): ProviderSpec | undefined {
  return BY_ALIAS.get(alias.trim().toLowerCase());
}

/** The closest provider id or alias, for "did you mean". */
export function nearestProvider(word: string): string | undefined {
  return nearest(word, [...BY_ID.keys(), ...BY_ALIAS.keys()]);
}
