// Collects every secret value of a home: from the environment, auth.json and the configuration.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import { isSecretKey } from "../core/config/mask.ts";
import type { Home } from "../core/home.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import { collectSecretValues, isSecretValue } from "./secret-names.ts";

/** The strings in a tree whose key is secret; `name` is the key of `value`. */
function* secretsIn(value: unknown, name = ""): Generator<string> {
  if (typeof value === "string") {
    if (isSecretKey(name) && isSecretValue(value)) yield value;
    return;
  }
  if (value === null || typeof value !== "object") return;
  for (const [key, inner] of Object.entries(value)) yield* secretsIn(inner, Array.isArray(value) ? name : key);
}

function readAuthFile(path: string): unknown {
  try {
    return parseJson(readFileSync(join(path, "auth.json"), "utf8"));
  } catch {
    // Missing or broken: there are no keys to collect.
    return undefined;
  }
}

export function knownSecrets(home: Home, config: Config): string[] {
  const stores = [...new Set([home.path, home.root])].map(readAuthFile);
  return [...collectSecretValues(home.env), ...stores.flatMap((store) => [...secretsIn(store)]), ...secretsIn(config)];
}
