// Dotted paths into plain objects and lists.
import { isRecord } from "./is-record.ts";

export type Tree = { [key: string]: unknown };

export function splitPath(path: string): string[] {
  return path.split(".").filter((part) => part !== "");
}

/** The value at a path, or undefined. Numbers index lists. */
export function getAt(tree: unknown, path: readonly string[]): unknown {
  let value = tree;
  for (const key of path) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) return undefined;
    value = (value as Tree)[key];
  }
  return value;
}

/** A copy of the tree with the value set. Missing objects are created. */
export function withAt(tree: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(tree) && /^\d+$/.test(key)) {
    const copy = [...tree];
    copy[Number(key)] = withAt(copy[Number(key)], rest, value);
    return copy;
  }
  const base = isRecord(tree) ? tree : {};
  return { ...base, [key]: withAt(Object.hasOwn(base, key) ? base[key] : undefined, rest, value) };
}

/** Merges objects key by key. Lists and other values replace. */
export function mergeTrees(base: unknown, over: unknown): unknown {
  if (!isRecord(base) || !isRecord(over)) return over === undefined ? base : over;
  const result: Tree = { ...base };
  for (const [key, value] of Object.entries(over)) {
    result[key] = mergeTrees(Object.hasOwn(base, key) ? base[key] : undefined, value);
  }
  return result;
}

/** Every path to a value that is not an object with keys. */
export function leaves(tree: unknown, prefix: readonly string[] = []): { path: readonly string[]; value: unknown }[] {
  if (!isRecord(tree) || Object.keys(tree).length === 0)
    return prefix.length === 0 ? [] : [{ path: prefix, value: tree }];
  return Object.entries(tree).flatMap(([key, value]) => leaves(value, [...prefix, key]));
}
