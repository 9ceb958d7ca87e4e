// The functions that the configuration schema is written with, and the TypeScript types inferred from it.

export type TypeName = "text" | "whole number" | "number" | "true/false" | "list" | "map" | "empty";

export interface Range {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** Exclude the bounds themselves. */
  readonly exclusive?: boolean | undefined;
}

/** Present on a key that Hermes Agent v0.14 knows and this program does not act on; see `accepted`. */
interface Acceptance {
  readonly accepted?: boolean | undefined;
}

export interface Field<T = unknown> extends Acceptance {
  readonly kind: "field";
  readonly types: readonly TypeName[];
  readonly fallback: T;
  readonly meaning: string;
  /** For text: the only values allowed. */
  readonly values?: readonly string[] | undefined;
  readonly range?: Range | undefined;
  readonly secret?: boolean | undefined;
  /** List items are words: numbers among them (chat ids) become text. */
  readonly words?: boolean | undefined;
}

export interface Section<K extends Keys = Keys> extends Acceptance {
  readonly kind: "section";
  readonly meaning: string;
  readonly keys: K;
}

/** A map whose keys the user chooses. Its entries follow `entry`; without one, any value is allowed. */
export interface NamedMap<E extends Node | undefined = Node | undefined> extends Acceptance {
  readonly kind: "named";
  readonly meaning: string;
  readonly entry: E;
  /** Entries of another shape are accepted unchecked: shorthand forms and keys of plugins. */
  readonly open: boolean;
}

export type Node = Field | Section | NamedMap<Node | undefined>;
export interface Keys {
  readonly [name: string]: Node;
}

export type Infer<N> =
  N extends Field<infer T>
    ? T
    : N extends Section<infer K>
      ? { readonly [P in keyof K]: Infer<K[P]> }
      : N extends NamedMap<infer E>
        ? { readonly [name: string]: E extends Node ? Infer<E> : unknown }
        : never;

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export function text(fallback: string, meaning: string): Field<string> {
  return { kind: "field", types: ["text"], fallback, meaning };
}

export function secret(meaning: string): Field<string> {
  return { kind: "field", types: ["text"], fallback: "", meaning, secret: true };
}

export function choice<const V extends readonly string[]>(
  values: V,
  fallback: V[number],
  meaning: string,
): Field<V[number]> {
  return { kind: "field", types: ["text"], fallback, meaning, values };
}

export function flag(fallback: boolean, meaning: string): Field<boolean> {
  return { kind: "field", types: ["true/false"], fallback, meaning };
}

export function whole(fallback: number, meaning: string, range: Range = { min: 0 }): Field<number> {
  return { kind: "field", types: ["whole number"], fallback, meaning, range };
}

export function decimal(fallback: number, meaning: string, range: Range = { min: 0 }): Field<number> {
  return { kind: "field", types: ["number"], fallback, meaning, range };
}

export function list(fallback: readonly string[], meaning: string): Field<readonly string[]> {
  return { kind: "field", types: ["list"], fallback, meaning, words: true };
}

/** A list whose items may be maps. */
export function items<T = Json>(meaning: string): Field<readonly T[]> {
  return { kind: "field", types: ["list"], fallback: [], meaning };
}

/** Comma-separated text or a list. */
export function names(meaning: string): Field<string | readonly string[]> {
  return { kind: "field", types: ["text", "list"], fallback: "", meaning, words: true };
}

/** The same field without a default: undefined until the user sets it. */
export function unset<T>(field: Field<T>): Field<T | undefined> {
  return { ...field, fallback: undefined };
}

/** The same field, but an empty value (`null`) is allowed and is the default. */
export function orEmpty<T>(field: Field<T>): Field<T | null> {
  return { ...field, types: [...field.types, "empty"], fallback: null };
}

/** The same key or section, marked: kept for Hermes Agent, no effect here. Every other key is used by the program. */
export function accepted<N extends Node>(node: N): N {
  return { ...node, accepted: true };
}

export function anyOf<T>(types: readonly TypeName[], fallback: T, meaning: string): Field<T> {
  return { kind: "field", types, fallback, meaning };
}

export function section<const K extends Keys>(meaning: string, keys: K): Section<K> {
  return { kind: "section", meaning, keys };
}

export function named<E extends Node>(
  meaning: string,
  entry: E,
  options: { open?: boolean | undefined } = {},
): NamedMap<E> {
  return { kind: "named", meaning, entry, open: options.open ?? false };
}

export function freeMap(meaning: string): NamedMap<undefined> {
  return { kind: "named", meaning, entry: undefined, open: true };
}
