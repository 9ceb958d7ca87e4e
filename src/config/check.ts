// Checks values against the schema: wrong values are reported and replaced by the default.

import { findNode, schema } from "../core/config/config.ts";
import type { Field, Keys, NamedMap, Node, Section } from "../core/config/fields.ts";
import { isSecretKey } from "../core/config/mask.ts";
import type { ConfigWarning } from "../core/settings.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { nearest } from "../lib/nearest.ts";
import { coerceForField } from "./coerce.ts";
import { describeAllowed, describeFound } from "./describe.ts";
import { type Env, expandText, expandTree, unsetReferences } from "./expand.ts";

export type Path = readonly string[];

interface CheckRun {
  readonly env: Env;
  readonly warnings: ConfigWarning[];
}

type Map = { readonly [key: string]: unknown };

/** Why a value does not fit a field; undefined when it does. */
export function fieldProblem(field: Field, value: unknown, key: string): string | undefined {
  return fits(field, value) ? undefined : `found ${describeFound(value, key)}; allowed is ${describeAllowed(field)}`;
}

function inRange(field: Field, value: number): boolean {
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY, exclusive } = field.range ?? {};
  return exclusive ? value > min && value < max : value >= min && value <= max;
}

function fits(field: Field, value: unknown): boolean {
  return field.types.some((type) => {
    if (type === "text") return typeof value === "string" && (!field.values || field.values.includes(value));
    if (type === "true/false") return typeof value === "boolean";
    if (type === "whole number") return Number.isSafeInteger(value) && inRange(field, value as number);
    if (type === "number") return typeof value === "number" && Number.isFinite(value) && inRange(field, value);
    if (type === "list") return Array.isArray(value);
    if (type === "map") return isRecord(value);
    return value === null;
  });
}

/** YAML parses `off` and `on` as booleans and ids as numbers; this converts them to the words that the field expects. */
function adapt(field: Field, value: unknown): unknown {
  if (Array.isArray(value)) {
    return field.words ? value.map((item) => (typeof item === "number" ? String(item) : item)) : value;
  }
  if (!field.types.includes("text") || fits(field, value)) return value;
  if (typeof value === "number" && !field.values) return String(value);
  if (typeof value === "boolean" && field.values) {
    const wanted = value ? ["on", "all"] : ["off"];
    return wanted.find((word) => field.values?.includes(word)) ?? value;
  }
  return typeof value === "string" && field.values
    ? (field.values.find((word) => word.toLowerCase() === value.toLowerCase()) ?? value)
    : value;
}

function warnUnset(text: string, path: Path, run: CheckRun): void {
  const key = path.at(-1) ?? "";
  if (!isSecretKey(key)) return;
  for (const name of unsetReferences(text, run.env)) {
    const message = `${path.join(".")} refers to ${name}, which is not set; put it in .env`;
    run.warnings.push({ kind: "unset_variable", path: path.join("."), message });
  }
}

function expandField(field: Field, value: unknown, path: Path, run: CheckRun): unknown {
  if (typeof value !== "string") return expandTree(value, run.env);
  const expanded = expandText(value, run.env);
  warnUnset(expanded, path, run);
  return expanded === value ? value : coerceForField(field, expanded);
}

function checkField(field: Field, value: unknown, path: Path, run: CheckRun): unknown {
  if (value === undefined || (value === null && !field.types.includes("empty"))) return field.fallback;
  const adapted = adapt(field, expandField(field, value, path, run));
  const problem = fieldProblem(field, adapted, path.at(-1) ?? "");
  if (problem === undefined) return adapted;
  const instead = field.fallback === undefined ? "ignored" : `using ${JSON.stringify(field.fallback)}`;
  run.warnings.push({
    kind: "wrong_value",
    path: path.join("."),
    message: `${path.join(".")}: ${problem}; ${instead}`,
  });
  return field.fallback;
}

let pathsByName: { [name: string]: string } | undefined;

function findPath(name: string): string | undefined {
  if (!pathsByName) {
    pathsByName = {};
    const walk = (keys: Keys, prefix: string) => {
      for (const [key, node] of Object.entries(keys)) {
        if (pathsByName && !(key in pathsByName)) pathsByName[key] = prefix + key;
        if (node.kind === "section" && key !== "auxiliary") walk(node.keys, `${prefix}${key}.`);
      }
    };
    walk(schema.keys, "");
  }
  return Object.hasOwn(pathsByName, name) ? pathsByName[name] : undefined;
}

function exists(path: Path): boolean {
  const { node, free } = findNode(path);
  return node !== undefined || free;
}

/** The existing path that an unknown one most likely means. */
export function suggestKey(path: Path): string | undefined {
  const { depth, known } = findNode(path);
  const guess = nearest(path[depth] ?? "", known);
  if (guess !== undefined) {
    const repaired = [...path.slice(0, depth), guess, ...path.slice(depth + 1)];
    return exists(repaired) ? repaired.join(".") : suggestDeeper(repaired, depth + 1);
  }
  return findPath(path.at(-1) ?? "");
}

function suggestDeeper(path: Path, depth: number): string {
  const { known } = findNode(path);
  const guess = nearest(path[depth] ?? "", known);
  return guess === undefined ? path.slice(0, depth).join(".") : [...path.slice(0, depth), guess].join(".");
}

function warnUnknown(path: Path, run: CheckRun): void {
  const guess = suggestKey(path);
  const message = `${path.join(".")} is not a known key${guess ? `; did you mean ${guess}?` : ""}`;
  run.warnings.push({ kind: "unknown_key", path: path.join("."), message });
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Keys in entries of a named map may be written in camelCase; a warning names the right spelling. */
function respell(value: Map, known: Keys, path: Path, run: CheckRun): Map {
  const result: { [key: string]: unknown } = {};
  for (const [key, inner] of Object.entries(value)) {
    const snake = snakeCase(key);
    const rename = !Object.hasOwn(known, key) && Object.hasOwn(known, snake);
    if (rename) {
      const where = [...path, key].join(".");
      run.warnings.push({ kind: "structure", path: where, message: `${where}: write it as ${snake}` });
    }
    result[rename ? snake : key] = inner;
  }
  return result;
}

function warnNotMap(value: unknown, path: Path, run: CheckRun): void {
  const where = path.join(".");
  const found = describeFound(value, path.at(-1) ?? "");
  run.warnings.push({
    kind: "wrong_value",
    path: where,
    message: `${where}: found ${found}; allowed is a map; ignored`,
  });
}

function checkSection(node: Section, given: unknown, path: Path, run: CheckRun): { [key: string]: unknown } {
  if (given !== undefined && given !== null && !isRecord(given)) warnNotMap(given, path, run);
  const value = isRecord(given) ? given : {};
  const result: { [key: string]: unknown } = {};
  for (const [key, child] of Object.entries(node.keys)) {
    const checked = checkNode(child, Object.hasOwn(value, key) ? value[key] : undefined, [...path, key], run);
    if (checked !== undefined) result[key] = checked;
  }
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(node.keys, key)) warnUnknown([...path, key], run);
  }
  return result;
}

function checkOpenEntry(entry: Section, value: Map, path: Path, run: CheckRun): Map {
  const ours = Object.fromEntries(Object.entries(value).filter(([key]) => Object.hasOwn(entry.keys, key)));
  const others = Object.entries(value).filter(([key]) => !Object.hasOwn(entry.keys, key));
  const rest = Object.fromEntries(others.map(([key, inner]) => [key, expandTree(inner, run.env)]));
  return { ...checkSection(entry, ours, path, run), ...rest };
}

function checkEntry(node: NamedMap, value: unknown, path: Path, run: CheckRun): unknown {
  const entry = node.entry;
  if (!entry) return expandTree(value, run.env);
  if (entry.kind !== "section") return checkNode(entry, value, path, run);
  if (!isRecord(value)) {
    if (node.open) return expandTree(value, run.env);
    warnNotMap(value, path, run);
    return undefined;
  }
  const spelled = respell(value, entry.keys, path, run);
  return node.open ? checkOpenEntry(entry, spelled, path, run) : checkSection(entry, spelled, path, run);
}

function checkNamed(node: NamedMap, value: unknown, path: Path, run: CheckRun): Map {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) {
    warnNotMap(value, path, run);
    return {};
  }
  const result: { [key: string]: unknown } = {};
  for (const [key, inner] of Object.entries(value)) {
    const checked = checkEntry(node, inner, [...path, key], run);
    if (checked !== undefined) result[key] = checked;
  }
  return result;
}

function checkNode(node: Node, value: unknown, path: Path, run: CheckRun): unknown {
  if (node.kind === "field") return checkField(node, value, path, run);
  return node.kind === "section" ? checkSection(node, value, path, run) : checkNamed(node, value, path, run);
}

/** Merges a tree over the defaults of the schema, expands references and checks it. */
export function checkTree(raw: unknown, env: Env): { value: unknown; warnings: ConfigWarning[] } {
  const run: CheckRun = { env, warnings: [] };
  return { value: checkSection(schema, raw, [], run), warnings: run.warnings };
}

/** Checks one value at its path in the schema. */
export function checkAt(
  node: Node,
  value: unknown,
  path: Path,
  env: Env,
): { value: unknown; warnings: ConfigWarning[] } {
  const run: CheckRun = { env, warnings: [] };
  return { value: checkNode(node, value, path, run), warnings: run.warnings };
}
