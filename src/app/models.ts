// The models of a home: its settings, keys and ledger handed to the providers.
import { join } from "node:path";
import type { JsonObject } from "../core/message.ts";
import type { UsageLedger } from "../core/usage.ts";
import { Models, type ModelsOptions } from "../providers/connect.ts";
import { readProviderSettings } from "../providers/settings.ts";
import type { Home } from "./home.ts";

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
