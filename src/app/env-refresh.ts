// Reads `.env` and config.yaml again while the program runs, so that a change is used without a restart.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Reloaded } from "../config/reload.ts";
import type { Registry } from "../core/tool/tool-registry.ts";
import { rereadEnv } from "../home/api.ts";
import { readProviderSettings } from "../providers/settings.ts";
import { knownSecrets } from "../security/known-secrets.ts";
import { withModelProviders } from "./open-plugins.ts";
import type { Services } from "./services.ts";

/** The state of `.env` at the last read, by home. */
const seen = new WeakMap<object, string>();

async function fileStamp(path: string): Promise<string> {
  const info = await stat(path).catch(() => null);
  return info ? `${info.mtimeMs} ${info.size} ${info.ino}` : "none";
}

/** Files that did not change are not read. A broken config.yaml keeps the old settings and is reported. */
export async function refreshSettings(services: Services, registry: Registry): Promise<Reloaded> {
  const env = await refreshEnv(services, registry);
  const reloaded = await services.reload.refresh();
  if (reloaded.changed) {
    const config = await withModelProviders(services.config, services.plugins);
    services.models.reconfigure(readProviderSettings(config, services.home.env));
    registry.forget();
  }
  return { changed: env || reloaded.changed, problem: reloaded.problem };
}

/** True when a variable changed. */
async function refreshEnv(services: Services, registry: Registry): Promise<boolean> {
  const { home, config, models, redactor } = services;
  const stamp = await fileStamp(join(home.path, ".env"));
  if (seen.get(home) === stamp) return false;
  seen.set(home, stamp);
  if (rereadEnv(home).length === 0) return false;
  for (const secret of knownSecrets(home, config)) redactor.learn(secret);
  models.refresh();
  registry.forget();
  return true;
}
