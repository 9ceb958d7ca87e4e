// The models of a home: its settings, keys and ledger handed to the providers.
import { join } from "node:path";
import type { Home } from "../core/home.ts";
import type { JsonObject } from "../core/message.ts";
import type { UsageLedger } from "../core/usage.ts";
import { Models, type ModelsOptions } from "./connect.ts";
import { readProviderSettings } from "./settings.ts";

export type OpenModelsOptions = Pick<ModelsOptions, "onError" | "probeTargets">;

/** `config` is the effective configuration of the home. */
export function openModels(home: Home, config: object, ledger: UsageLedger, options: OpenModelsOptions = {}): Models {
  return new Models({
    settings: readProviderSettings(config as JsonObject, home.env),
    env: home.env,
    authPath: join(home.path, "auth.json"),
    envPath: join(home.path, ".env"),
    ...(home.root === home.path ? {} : { globalAuthPath: join(home.root, "auth.json") }),
    windowCachePath: join(home.path, "context_length_cache.yaml"),
    ledger,
    ...options,
  });
}
