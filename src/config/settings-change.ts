// Changes one setting from text: finds its path, parses and checks the text, writes it.

import { ACCEPTED_NOTE, isAccepted } from "../core/config/accepted.ts";
import { findNode } from "../core/config/config.ts";
import { isEnvName } from "../core/config/env-file.ts";
import { belongsInEnvFile, isSecretEnvName, knownEnvNames, nearestEnvName } from "../core/config/env-names.ts";
import type { Node } from "../core/config/fields.ts";
import { isSecretKey, looksSecret, maskSecret, maskTree } from "../core/config/mask.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { SettingChange } from "../core/settings.ts";
import { splitPath } from "../lib/json/tree-path.ts";
import { checkAt, suggestKey } from "./check.ts";
import { coerceForNode } from "./coerce.ts";
import { describeAllowed, describeFound } from "./describe.ts";
import { mirrorName } from "./env-layer.ts";
import { removeEnvValue, setEnvValue } from "./env-write.ts";
import { refuseUnusable } from "./refuse-value.ts";
import { removeConfigValue, setConfigValue } from "./write.ts";

interface Change {
  readonly path: string;
  readonly text: string;
  readonly force?: boolean | undefined;
}

type Raw = { readonly [key: string]: unknown };

function refuseUnknown(keys: readonly string[]): never {
  const guess = suggestKey(keys);
  throw new UserError(`${keys.join(".")} is not a known key${guess ? `; did you mean ${guess}?` : ""}`, {
    hint: "See all keys: hermes config show --all. To write it anyway, add --force",
    exitCode: 2,
  });
}

/** The value to write; throws when the schema does not allow it. */
function parseAndCheck(home: Home, keys: readonly string[], text: string, node: Node | undefined): unknown {
  const coerced = coerceForNode(node, text);
  if (node === undefined) return coerced;
  const path = keys.join(".");
  if (node.kind !== "field" && (coerced === null || typeof coerced !== "object" || Array.isArray(coerced))) {
    const inner =
      node.kind === "section" ? `Set one of its keys, for example ${path}.${Object.keys(node.keys)[0]}` : "";
    throw new UserError(`${path}: found ${describeFound(coerced, keys.at(-1) ?? "")}; allowed is a map`, {
      hint: `${inner === "" ? "" : `${inner}, or give`}${inner === "" ? "Give" : ""} the whole map as JSON.`,
      exitCode: 2,
    });
  }
  const { value, warnings } = checkAt(node, coerced, keys, home.env);
  const wrong = warnings.find(({ kind }) => kind !== "unset_variable");
  if (wrong) {
    const found = describeFound(coerced, keys.at(-1) ?? "");
    const reason =
      node.kind === "field" ? `${path}: found ${found}; allowed is ${describeAllowed(node)}` : wrong.message;
    throw new UserError(reason, { hint: "Nothing was changed.", exitCode: 2 });
  }
  return node.kind === "field" && !text.includes("${") ? value : coerced;
}

/** `model` may be a single text; when the file has a map, the text is its `default`. */
function targetPath(path: string, raw: Raw): string[] {
  const keys = splitPath(path);
  if (path === "model" && raw.model !== null && typeof raw.model === "object") return ["model", "default"];
  return keys;
}

async function changeEnv(home: Home, name: string, text: string, readBy: boolean): Promise<SettingChange> {
  await setEnvValue(home, name, text);
  const masked = isSecretEnvName(name) || looksSecret(text) || readBy;
  const meant = readBy ? undefined : nearestEnvName(name);
  return {
    key: name,
    value: masked ? maskSecret(text) : text,
    file: ".env",
    hint: meant && `Hermes itself does not read ${name}; did you mean ${meant}?`,
  };
}

/** Every variable that the configuration names as the source of a key. */
function variablesNamedIn(tree: unknown): Set<string> {
  const found = new Set<string>();
  const walk = (value: unknown) => {
    if (value === null || typeof value !== "object") return;
    for (const [key, inner] of Object.entries(value)) {
      if (typeof inner !== "string") walk(inner);
      else if (/^(?:key_env|api_key_env|keyEnv|apiKeyEnv)$/.test(key)) found.add(inner);
      else for (const match of inner.matchAll(/\$\{(\w+)\}/g)) found.add(match[1] ?? "");
    }
  };
  walk(tree);
  return found;
}

/** The variable of `.env` that this path names; undefined for a setting of config.yaml. */
function findEnvName(path: string, raw: Raw, text = ""): { name: string; readBy: boolean } | undefined {
  if (!isEnvName(path) || findNode([path]).node !== undefined) return undefined;
  if (variablesNamedIn(raw).has(path)) return { name: path, readBy: true };
  const upper = path.toUpperCase();
  const secretValue = /^[A-Z][A-Z0-9_]*$/.test(path) && looksSecret(text);
  return belongsInEnvFile(path) || knownEnvNames.has(path) || secretValue ? { name: upper, readBy: false } : undefined;
}

/** Removes one key from its file, so that the default applies again, and its mirror from `.env`. */
export async function removeSetting(home: Home, raw: Raw, path: string): Promise<void> {
  const written = /^[A-Z][A-Z0-9_]*$/.test(path) ? { name: path } : undefined;
  const variable = findEnvName(path, raw) ?? written;
  if (variable) await removeEnvValue(home, variable.name);
  if (variable && !Object.hasOwn(raw, path)) return;
  await removeConfigValue(home, splitPath(path));
  const mirror = mirrorName(path);
  if (mirror !== undefined) await removeEnvValue(home, mirror);
}

export async function changeSetting(home: Home, raw: Raw, change: Change): Promise<SettingChange> {
  const { path, text, force } = change;
  const variable = findEnvName(path, raw, text);
  if (variable) return changeEnv(home, variable.name, text, variable.readBy);
  const keys = targetPath(path, raw);
  if (keys.length === 0)
    throw new UserError("no key was given", { hint: "See: hermes config set --help", exitCode: 2 });
  const wholeModel = keys.length === 1 && keys[0] === "model" && !/^\s*\{/.test(text);
  const { node, free } = findNode(wholeModel ? ["model", "default"] : keys);
  if (node === undefined && !free && !force) refuseUnknown(keys);
  const value = parseAndCheck(home, keys, text, node);
  refuseUnusable(keys, value);
  await setConfigValue(home, keys, value);
  const mirror = mirrorName(keys.join("."));
  if (mirror !== undefined) await setEnvValue(home, mirror, String(value));
  const last = keys.at(-1) ?? "";
  const shown = isSecretKey(last) && typeof value === "string" ? maskSecret(value) : maskTree(value, last);
  const hint = isAccepted(keys) ? `${keys.join(".")} is ${ACCEPTED_NOTE}` : undefined;
  return { key: keys.join("."), value: shown, file: "config.yaml", hint };
}
