// Changing one setting from text: find its place, understand the text, check it, write it.
import { checkAt, suggestKey } from "../config/check.ts";
import { coerceForNode } from "../config/coerce.ts";
import { describeAllowed, describeFound } from "../config/describe.ts";
import { isEnvName } from "../config/env-file.ts";
import { mirrorName } from "../config/env-layer.ts";
import { belongsInEnvFile, isSecretEnvName, knownEnvNames } from "../config/env-names.ts";
import { removeEnvValue, setEnvValue } from "../config/env-write.ts";
import { isSecretKey, maskSecret, maskTree } from "../config/mask.ts";
import { splitPath } from "../config/path.ts";
import { findNode } from "../config/schema/config.ts";
import type { Node } from "../config/schema/fields.ts";
import { removeConfigValue, setConfigValue } from "../config/write.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "./home.ts";

export interface ChangeOutcome {
  /** The key that was set: a dotted path, or the name of a variable. */
  readonly key: string;
  /** What was written; secrets masked. */
  readonly value: unknown;
  readonly file: "config.yaml" | ".env";
}

interface Change {
  readonly path: string;
  readonly text: string;
  readonly force?: boolean;
}

type Raw = { readonly [key: string]: unknown };

function refuseUnknown(keys: readonly string[]): never {
  const guess = suggestKey(keys);
  throw new UserError(`${keys.join(".")} is not a known key${guess ? `; did you mean ${guess}?` : ""}`, {
    cure: "See all keys: hermes config show --all. To write it all the same, add --force",
    exitCode: 2,
  });
}

/** The value to write; throws when the schema does not allow it. */
function checkedValue(home: Home, keys: readonly string[], text: string, node: Node | undefined): unknown {
  const coerced = coerceForNode(node, text);
  if (node === undefined) return coerced;
  const path = keys.join(".");
  if (node.kind !== "field" && (coerced === null || typeof coerced !== "object" || Array.isArray(coerced))) {
    const inner =
      node.kind === "section" ? `Set one of its keys, for example ${path}.${Object.keys(node.keys)[0]}` : "";
    throw new UserError(`${path}: found ${describeFound(coerced, keys.at(-1) ?? "")}; allowed is a map`, {
      cure: `${inner === "" ? "" : `${inner}, or give`}${inner === "" ? "Give" : ""} the whole map as JSON.`,
      exitCode: 2,
    });
  }
  const { value, warnings } = checkAt(node, coerced, keys, home.env);
  const wrong = warnings.find(({ kind }) => kind !== "unset_variable");
  if (wrong) {
    const found = describeFound(coerced, keys.at(-1) ?? "");
    const reason =
      node.kind === "field" ? `${path}: found ${found}; allowed is ${describeAllowed(node)}` : wrong.message;
    throw new UserError(reason, { cure: "Nothing was changed.", exitCode: 2 });
  }
  return node.kind === "field" && !text.includes("${") ? value : coerced;
}

/** `model` may be one word; where the file has a map, the word is its `default`. */
function placeFor(path: string, raw: Raw): string[] {
  const keys = splitPath(path);
  if (path === "model" && raw.model !== null && typeof raw.model === "object") return ["model", "default"];
  return keys;
}

async function changeEnv(home: Home, name: string, text: string): Promise<ChangeOutcome> {
  await setEnvValue(home, name, text);
  return { key: name, value: isSecretEnvName(name) ? maskSecret(text) : text, file: ".env" };
}

function isEnvVariable(path: string): boolean {
  return isEnvName(path) && (belongsInEnvFile(path) || knownEnvNames.has(path));
}

/** Takes one key out of its file, so that the default counts again; the mirror in `.env` goes with it. */
export async function removeSetting(home: Home, path: string): Promise<void> {
  if (isEnvVariable(path)) return removeEnvValue(home, path.toUpperCase());
  await removeConfigValue(home, splitPath(path));
  const mirror = mirrorName(path);
  if (mirror !== undefined) await removeEnvValue(home, mirror);
}

export async function changeSetting(home: Home, raw: Raw, change: Change): Promise<ChangeOutcome> {
  const { path, text, force } = change;
  if (isEnvVariable(path)) return changeEnv(home, path.toUpperCase(), text);
  const keys = placeFor(path, raw);
  if (keys.length === 0)
    throw new UserError("no key was given", { cure: "See: hermes config set --help", exitCode: 2 });
  const wholeModel = keys.length === 1 && keys[0] === "model" && !/^\s*\{/.test(text);
  const { node, free } = findNode(wholeModel ? ["model", "default"] : keys);
  if (node === undefined && !free && !force) refuseUnknown(keys);
  const value = checkedValue(home, keys, text, node);
  await setConfigValue(home, keys, value);
  const mirror = mirrorName(keys.join("."));
  if (mirror !== undefined) await setEnvValue(home, mirror, String(value));
  const last = keys.at(-1) ?? "";
  const shown = isSecretKey(last) && typeof value === "string" ? maskSecret(value) : maskTree(value, last);
  return { key: keys.join("."), value: shown, file: "config.yaml" };
}
