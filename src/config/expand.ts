// Expands `${NAME}` in text values. References to unset variables stay unchanged.

export interface Env {
  readonly [name: string]: string | undefined;
}

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export function expandText(text: string, env: Env): string {
  if (!text.includes("${")) return text;
  return text.replace(REFERENCE, (whole, name: string) => env[name] ?? whole);
}

/** Expands every text value in a tree; keys, numbers and flags stay untouched. */
export function expandTree(value: unknown, env: Env): unknown {
  if (typeof value === "string") return expandText(value, env);
  if (Array.isArray(value)) return value.map((item) => expandTree(item, env));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expandTree(inner, env)]));
  }
  return value;
}

/** Names referred to but not set. */
export function unsetReferences(text: string, env: Env): string[] {
  return [...text.matchAll(REFERENCE)].map((match) => match[1] ?? "").filter((name) => env[name] === undefined);
}
