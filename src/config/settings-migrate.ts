// Migrates the configuration of a home to the newest version after a backup.
import { copyFile } from "node:fs/promises";
import { CONFIG_VERSION } from "../core/config/config.ts";
import { parseEnvFile } from "../core/config/env-file.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { MigrationReport } from "../core/settings.ts";
import { envPath } from "./env-write.ts";
import { configPath } from "./load.ts";
import { migrate, readVersion } from "./migrate.ts";
import { readText, refuseWhenManaged, saveConfigTree } from "./write.ts";
import { parseYaml } from "./yaml-file.ts";

function stamp(now: Date): string {
  return now.toISOString().replace(/[-:]/g, "").replace(/\..*$/, "").replace("T", "_");
}

/** Rewrites config.yaml when its version is old; reports which variables in `.env` must be cleared. */
export async function migrateHome(home: Home, installedPlugins: readonly string[]): Promise<MigrationReport> {
  refuseWhenManaged(home, "The configuration");
  const path = configPath(home);
  const { tree, problem } = await parseYaml(await readText(path));
  if (problem) {
    throw new UserError(`${path} is not valid; nothing was changed`, { hint: "Repair it first: hermes config edit" });
  }
  const env = Object.fromEntries(parseEnvFile(await readText(envPath(home))));
  const { state, steps } = migrate({ config: tree, env, installedPlugins });
  const from = readVersion(tree);
  const report = { from, to: Math.max(from, CONFIG_VERSION), steps, moved: state.moved, dropped: state.dropped };
  if (from >= CONFIG_VERSION) return { ...report, blanked: [], backup: null };
  const backup = `${path}.bak.${stamp(new Date())}`;
  await copyFile(path, backup);
  await saveConfigTree(home, state.config);
  const blanked = Object.keys(env).filter((name) => env[name] !== "" && state.env[name] === "");
  return { ...report, blanked, backup };
}
