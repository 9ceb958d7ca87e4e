// Opens the models of a home with its settings, keys and ledger.
import { join } from "node:path";
import type { Home } from "../core/home.ts";
import type { UsageLedger } from "../core/store/usage.ts";
import { Models, type ModelsOptions } from "./connect.ts";
import { type ModelConfig, readProviderSettings } from "./settings.ts";

export type OpenModelsOptions = Pick<ModelsOptions, "onError" | "probeTargets">;

/** `config` is the effective configuration of the home. */
export function openModels(
  home: Home,
  config: ModelConfig,
  ledger: UsageLedger,
  options: OpenModelsOptions = {},
): Models {
  return new Models({
    settings: readProviderSettings(config, home.env),
    env: home.env,
    authPath: join(home.path, "auth.json"),
    envPath: join(home.path, ".env"),
    globalAuthPath: home.root === home.path ? undefined : join(home.root, "auth.json"),
    windowCachePath: join(home.path, "context_length_cache.yaml"),
    ledger,
    ...options,
  });
}
