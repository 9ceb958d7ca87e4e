// Restores `${NAME}` references before a tree is saved, wherever a value still equals its expansion.
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../lib/json/is-record.ts";
import { type Env, expandTree } from "./expand.ts";

/** The names of the maps in a list, when each has a different one. */
function itemNames(list: readonly unknown[]): string[] | undefined {
  const names = list.map((item) => (isRecord(item) && typeof item.name === "string" ? item.name : undefined));
  const given = names.filter((name) => name !== undefined);
  return given.length === list.length && new Set(given).size === given.length ? given : undefined;
}

function restoreList(value: readonly unknown[], original: readonly unknown[], env: Env): unknown[] {
  const originalNames = itemNames(original);
  const valueNames = itemNames(value);
  return value.map((item, index) => {
    const name = valueNames?.[index];
    const from = originalNames && name !== undefined ? original[originalNames.indexOf(name)] : original[index];
    return restoreReferences(item, from, env);
  });
}

export function restoreReferences(value: unknown, original: unknown, env: Env): unknown {
  if (original !== undefined && isDeepStrictEqual(value, expandTree(original, env))) return original;
  if (Array.isArray(value)) return Array.isArray(original) ? restoreList(value, original, env) : value;
  if (!isRecord(value) || !isRecord(original)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, restoreReferences(inner, original[key], env)]),
  );
}
