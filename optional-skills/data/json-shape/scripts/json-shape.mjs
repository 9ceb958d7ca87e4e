#!/usr/bin/env node
// The structure of JSON or JSON Lines: paths, types, presence, examples; or what differs between two files. No dependencies.
import { readFileSync } from "node:fs";

const MAP_KEYS = 30;

function typeOf(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "list" : typeof value;
}

function parse(text) {
  try {
    return [JSON.parse(text)];
  } catch (whole) {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    try {
      return lines.map((line) => JSON.parse(line));
    } catch {
      throw whole;
    }
  }
}

function note(paths, path, value, parents) {
  const entry = paths.get(path) ?? { count: 0, types: {}, example: undefined, parent: parents };
  const type = typeOf(value);
  entry.count += 1;
  entry.types[type] = (entry.types[type] ?? 0) + 1;
  if (entry.example === undefined && type !== "list" && type !== "object" && value !== null) entry.example = value;
  paths.set(path, entry);
}

function walk(paths, value, path, parent) {
  note(paths, path === "" ? "(root)" : path, value, parent);
  const here = path === "" ? "(root)" : path;
  if (Array.isArray(value)) for (const item of value) walk(paths, item, `${path}[]`, here);
  else if (value !== null && typeof value === "object") {
    const keys = Object.keys(value);
    for (const key of keys) {
      const step = keys.length > MAP_KEYS ? "{}" : key;
      walk(paths, value[key], path === "" ? step : `${path}.${step}`, here);
    }
  }
}

function shapeOf(file) {
  const paths = new Map();
  for (const value of parse(readFileSync(file, "utf8"))) walk(paths, value, "", "");
  return paths;
}

function rows(paths, examples) {
  return [...paths].map(([path, { count, types, example, parent }]) => ({
    path,
    types,
    present: count,
    of: paths.get(parent)?.types.object ?? count,
    ...(examples && example !== undefined ? { example: String(example).slice(0, 60) } : {}),
  }));
}

function typesText(types, count) {
  const parts = Object.entries(types).sort((a, b) => b[1] - a[1]);
  return parts.map(([type, n]) => (parts.length === 1 ? type : `${type} ${Math.round((100 * n) / count)}%`)).join(", ");
}

function differences(before, after) {
  const found = [];
  for (const [path, { types }] of before) {
    const now = after.get(path);
    if (!now) found.push({ path, change: "removed" });
    else {
      const [was, is] = [types, now.types].map((set) => Object.keys(set).sort().join("|"));
      if (was !== is) found.push({ path, change: `type ${was} -> ${is}` });
    }
  }
  for (const path of after.keys()) if (!before.has(path)) found.push({ path, change: "added" });
  return found;
}

function main(argv) {
  const flags = new Set(argv.filter((word) => word === "--json" || word === "--no-examples"));
  const at = argv.indexOf("--against");
  const against = at < 0 ? undefined : argv[at + 1];
  const file = argv.find((word, index) => !word.startsWith("--") && (at < 0 || index !== at + 1));
  if (!file) throw new Error("usage: json-shape.mjs FILE [--against FILE] [--json] [--no-examples]");
  const shape = shapeOf(file);
  const result = against ? differences(shape, shapeOf(against)) : rows(shape, !flags.has("--no-examples"));
  if (flags.has("--json")) return JSON.stringify(result, null, 2);
  if (against) return result.map(({ path, change }) => `${change.padEnd(24)} ${path}`).join("\n") || "same shape";
  return result
    .map(({ path, types, present, of, example }) => {
      const shown = example === undefined ? "" : `  e.g. ${example}`;
      return `${path.padEnd(32)} ${typesText(types, present).padEnd(24)} present ${present} of ${of}${shown}`;
    })
    .join("\n");
}

try {
  process.stdout.write(`${main(process.argv.slice(2))}\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
