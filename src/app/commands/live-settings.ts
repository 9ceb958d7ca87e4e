// Settings that slash commands change while the program runs: written to config.yaml and applied to this process.
import type { LiveSettings } from "../../commands/command-deps.ts";
import { openSettings } from "../../config/api.ts";
import { splitPath, withAt } from "../../lib/json/tree-path.ts";
import type { Services } from "../services.ts";

/** Replaces the section of the value; code that reads `config` at each use sees the change. */
export function applySetting(config: object, path: string, value: unknown): void {
  const [section = "", ...rest] = splitPath(path);
  const root = config as { [key: string]: unknown };
  root[section] = withAt(root[section], rest, value);
}

export function liveSettings({ home, config }: Pick<Services, "home" | "config">): LiveSettings {
  const settings = openSettings(home);
  const apply = (path: string, value: string | boolean) => applySetting(config, path, value);
  return {
    path: settings.path,
    config,
    apply,
    save: async (path, value) => {
      await settings.set(path, String(value));
      apply(path, value);
    },
    rows: () => settings.rows(),
  };
}
