// Dotted paths into plain trees.

export type Tree = { [key: string]: unknown };

export function splitPath(path: string): string[] {
  return path.split(".").filter((part) => part !== "");
}

/** The value at a path; numbers index lists; undefined when there is none. */
export function getAt(tree: unknown, path: readonly string[]): unknown {
  let value = tree;
  for (const key of path) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) return undefined;
    value = (value as Tree)[key];
  }
  return value;
}

/** A copy of the tree with the value set; maps are made on the way. */
export function withAt(tree: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(tree) && /^\d+$/.test(key)) {
    const copy = [...tree];
    copy[Number(key)] = withAt(copy[Number(key)], rest, value);
    return copy;
  }
  const base = tree !== null && typeof tree === "object" && !Array.isArray(tree) ? (tree as Tree) : {};
  return { ...base, [key]: withAt(Object.hasOwn(base, key) ? base[key] : undefined, rest, value) };
}

/** Maps merged key by key; lists and single values replace. */
export function mergeTrees(base: unknown, over: unknown): unknown {
  if (!isPlain(base) || !isPlain(over)) return over === undefined ? base : over;
  const result: Tree = { ...base };
  for (const [key, value] of Object.entries(over)) {
    result[key] = mergeTrees(Object.hasOwn(base, key) ? base[key] : undefined, value);
  }
  return result;
}

function isPlain(value: unknown): value is Tree {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Every path that ends in a single value, a list or an empty map. */
export function leaves(tree: unknown, prefix: readonly string[] = []): { path: readonly string[]; value: unknown }[] {
  if (!isPlain(tree) || Object.keys(tree).length === 0)
    return prefix.length === 0 ? [] : [{ path: prefix, value: tree }];
  return Object.entries(tree).flatMap(([key, value]) => leaves(value, [...prefix, key]));
}
