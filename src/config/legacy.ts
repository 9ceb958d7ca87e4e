// Converts older forms of the configuration in memory. The file is not changed.

import type { ConfigWarning } from "../core/settings.ts";
import { isRecord } from "../lib/json/is-record.ts";

type Tree = { [key: string]: unknown };

/** `My Server (local)` → `my-server-local`: the id of a custom endpoint. */
export function slug(name: string): string {
  const kebab = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return kebab || "custom";
}

function mapAt(tree: Tree, key: string): Tree {
  const value = tree[key];
  const copy: Tree = isRecord(value) ? { ...value } : {};
  tree[key] = copy;
  return copy;
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function moveRoot(tree: Tree, from: string, section: string, to: string): void {
  if (isBlank(tree[from])) return;
  if (tree[section] === undefined || tree[section] === null || isRecord(tree[section])) {
    const target = mapAt(tree, section);
    if (isBlank(target[to])) target[to] = tree[from];
  }
  delete tree[from];
}

function rename(tree: Tree, section: string, from: string, to: string): void {
  if (!isRecord(tree[section]) || tree[section][from] === undefined) return;
  const target = mapAt(tree, section);
  if (target[to] === undefined) target[to] = target[from];
  delete target[from];
}

function convertModel(tree: Tree): void {
  if (typeof tree.model === "string") tree.model = { default: tree.model };
  for (const key of ["provider", "base_url", "context_length"]) moveRoot(tree, key, "model", key);
  if (!isRecord(tree.model)) return;
  const model = mapAt(tree, "model");
  if (isBlank(model.default)) {
    const named = [model.model, model.name].find((value) => !isBlank(value));
    if (named !== undefined) model.default = named;
  }
}

/** One entry of the old `custom_providers` list as an entry of `providers`; undefined when it lacks a name or address. */
export function customProviderEntry(entry: unknown): { id: string; value: Tree } | undefined {
  if (!isRecord(entry)) return undefined;
  const { name, base_url: baseUrl, model, api_mode: mode, ...rest } = entry;
  if (typeof name !== "string" || name.trim() === "" || typeof baseUrl !== "string" || baseUrl === "") return undefined;
  const value: Tree = { ...rest, name, api: baseUrl };
  if (!isBlank(model)) value.default_model = model;
  if (!isBlank(mode)) value.transport = mode;
  return { id: slug(name), value };
}

function convertCustomProviders(tree: Tree, warnings: ConfigWarning[]): void {
  const entries = tree.custom_providers;
  if (entries === undefined || entries === null) return;
  delete tree.custom_providers;
  const path = "custom_providers";
  if (!Array.isArray(entries)) {
    warnings.push({ kind: "structure", path, message: `${path} must be a list of maps with name and base_url` });
    return;
  }
  const providers = mapAt(tree, "providers");
  for (const [index, entry] of entries.entries()) {
    const converted = customProviderEntry(entry);
    const where = `${path}.${index}`;
    if (!converted)
      warnings.push({ kind: "structure", path: where, message: `${where} needs name and base_url; ignored` });
    else if (providers[converted.id] === undefined) providers[converted.id] = converted.value;
  }
}

function convertFallback(tree: Tree, warnings: ConfigWarning[]): void {
  const path = isBlank(tree.fallback_model) ? "fallback_providers" : "fallback_model";
  if (path === "fallback_model") {
    const entries = Array.isArray(tree.fallback_model) ? tree.fallback_model : [tree.fallback_model];
    const present = Array.isArray(tree.fallback_providers) && tree.fallback_providers.length > 0;
    if (!present) tree.fallback_providers = entries;
  }
  delete tree.fallback_model;
  const list = tree.fallback_providers;
  if (!Array.isArray(list)) return;
  const complete = (entry: unknown) => isRecord(entry) && !isBlank(entry.provider) && !isBlank(entry.model);
  for (const [index, entry] of list.entries()) {
    const where = Array.isArray(list) && list.length > 1 ? `${path}.${index}` : path;
    if (!complete(entry)) {
      warnings.push({ kind: "structure", path: where, message: `${where} needs provider and model; ignored` });
    }
  }
  tree.fallback_providers = list.filter(complete);
}

function convertProgressOverrides(tree: Tree): void {
  const display = isRecord(tree.display) ? tree.display : {};
  if (!isRecord(display.tool_progress_overrides)) return;
  const target = mapAt(tree, "display");
  const platforms = mapAt(target, "platforms");
  for (const [name, value] of Object.entries(display.tool_progress_overrides)) {
    const platform = mapAt(platforms, name);
    if (platform.tool_progress === undefined) platform.tool_progress = value;
  }
}

/** The tree in its current form, and warnings about entries that could not be converted. */
export function convertLegacy(raw: { readonly [key: string]: unknown }): { tree: Tree; warnings: ConfigWarning[] } {
  const tree: Tree = { ...raw };
  const warnings: ConfigWarning[] = [];
  convertModel(tree);
  moveRoot(tree, "max_turns", "agent", "max_turns");
  convertCustomProviders(tree, warnings);
  convertFallback(tree, warnings);
  rename(tree, "terminal", "env_type", "backend");
  rename(tree, "display", "tui_mouse", "mouse_tracking");
  convertProgressOverrides(tree);
  return { tree, warnings };
}
