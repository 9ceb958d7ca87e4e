// Reads `.env` again while the program runs, so that a changed key is used without a restart.
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Registry } from "../core/tool/tool-registry.ts";
import { rereadEnv } from "../home/api.ts";
import { knownSecrets } from "../security/known-secrets.ts";
import type { Services } from "./services.ts";

/** The state of `.env` at the last read, by home. */
const seen = new WeakMap<object, string>();

async function fileStamp(path: string): Promise<string> {
  const info = await stat(path).catch(() => null);
  return info ? `${info.mtimeMs} ${info.size} ${info.ino}` : "none";
}

/** True when a variable changed. A file that did not change is not read. */
export async function refreshEnv(services: Services, registry: Registry): Promise<boolean> {
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
