// Saving an expanded tree: wherever a value still equals its expansion, the `${NAME}` text of the file comes back.
import { isDeepStrictEqual } from "node:util";
import { type Env, expandTree } from "./expand.ts";

type Tree = { readonly [key: string]: unknown };

function isPlain(value: unknown): value is Tree {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The name of each map in a list, when every map has one and no two are the same. */
function namesOf(list: readonly unknown[]): string[] | undefined {
  const names = list.map((item) => (isPlain(item) && typeof item.name === "string" ? item.name : undefined));
  const given = names.filter((name) => name !== undefined);
  return given.length === list.length && new Set(given).size === given.length ? given : undefined;
}

function restoreList(value: readonly unknown[], original: readonly unknown[], env: Env): unknown[] {
  const originalNames = namesOf(original);
  const valueNames = namesOf(value);
  return value.map((item, index) => {
    const name = valueNames?.[index];
    const from = originalNames && name !== undefined ? original[originalNames.indexOf(name)] : original[index];
    return restoreReferences(item, from, env);
  });
}

export function restoreReferences(value: unknown, original: unknown, env: Env): unknown {
  if (original !== undefined && isDeepStrictEqual(value, expandTree(original, env))) return original;
  if (Array.isArray(value)) return Array.isArray(original) ? restoreList(value, original, env) : value;
  if (!isPlain(value) || !isPlain(original)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, restoreReferences(inner, original[key], env)]),
  );
}
