// TypeBox's schema builders with its types but without its code, which would be loaded at start-up by every tool.
// The result is plain JSON Schema; TypeBox compiles it at the first call (docs/decisions/020-tool-schemas.md).
import type { Type as TypeBox } from "typebox";

type Words =
  | "Array"
  | "Boolean"
  | "Integer"
  | "Literal"
  | "Null"
  | "Number"
  | "Object"
  | "Optional"
  | "String"
  | "Union";

type Options = { readonly [keyword: string]: unknown };

const optional = new WeakSet<object>();

function plain(type: string) {
  return (options?: Options) => ({ type, ...options });
}

function asOptional(schema: object): object {
  const copy = { ...schema };
  optional.add(copy);
  return copy;
}

function buildObject(properties: { readonly [name: string]: object }, options?: Options) {
  const required = Object.keys(properties).filter((name) => !optional.has(properties[name] ?? {}));
  return { type: "object", ...(required.length > 0 ? { required } : {}), properties, ...options };
}

/** The builders that our tools use; each returns the same JSON as TypeBox's own. */
export const Type = {
  Array: (items: object, options?: Options) => ({ type: "array", items, ...options }),
  Boolean: plain("boolean"),
  Integer: plain("integer"),
  Literal: (value: string | number | boolean, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: plain("null"),
  Number: plain("number"),
  Object: buildObject,
  Optional: asOptional,
  String: plain("string"),
  Union: (anyOf: readonly object[], options?: Options) => ({ anyOf, ...options }),
} as unknown as Pick<typeof TypeBox, Words>;
