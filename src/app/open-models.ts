// What the commands about models and usage get: settings, the model providers of plugins, the ledger.
import { openSettings } from "../config/api.ts";
import type { Home } from "../core/home.ts";
import type { ModelsContext } from "../providers/api/models-context.ts";
import { withPluginModels } from "./open-plugins.ts";
import { withLedger } from "./open-store.ts";

export function openModelsContext(home: Home): ModelsContext {
  const settings = openSettings(home);
  return {
    home,
    settings,
    loadConfig: async (notice) => withPluginModels(home, (await settings.load()).config, notice),
    withLedger: (work) => withLedger(home, work),
  };
}
