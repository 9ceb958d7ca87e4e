// Every secret value that this home knows: from the environment, the key file and the configuration.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import { isSecretKey } from "../core/config/mask.ts";
import type { Home } from "../core/home.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import { isSecretValue, secretValuesOf } from "./secret-names.ts";

function* secretsIn(value: unknown, name: string): Generator<string> {
  if (typeof value === "string") {
    if (isSecretKey(name) && isSecretValue(value)) yield value;
    return;
  }
  if (value === null || typeof value !== "object") return;
  for (const [key, inner] of Object.entries(value)) yield* secretsIn(inner, Array.isArray(value) ? name : key);
}

function authFile(path: string): unknown {
  try {
    return parseJson(readFileSync(join(path, "auth.json"), "utf8"));
  } catch {
    // No key file, no keys in it.
    return undefined;
  }
}

export function knownSecrets(home: Home, config: Config): string[] {
  const stores = [...new Set([home.path, home.root])].map(authFile);
  return [
    ...secretValuesOf(home.env),
    ...stores.flatMap((store) => [...secretsIn(store, "")]),
    ...secretsIn(config, ""),
  ];
}
