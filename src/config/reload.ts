// Reads config.yaml again while the program runs. A broken file keeps the old values.
import { statSync } from "node:fs";
import type { Config } from "../core/config/config.ts";
import { errorMessage } from "../lib/error-message.ts";
import { isRecord } from "../lib/json/is-record.ts";

export interface ReloadOptions {
  readonly path: string;
  /** The object that every part of the program holds; its values are replaced in place. */
  readonly config: Config;
  /** Reads and checks the file; throws when it cannot be used. */
  load(): Promise<Config>;
  /** Gets the reason why a changed file is not used, once for each change. */
  notice(text: string): void;
}

export interface Reloaded {
  readonly changed: boolean;
  /** Why the file was not used. */
  readonly problem?: string | undefined;
}

export interface ConfigReload {
  /** Reads the file when it has changed since the last call. */
  refresh(): Promise<Reloaded>;
}

function fileStamp(path: string): string {
  const info = statSync(path, { throwIfNoEntry: false });
  return info ? `${info.mtimeMs} ${info.size} ${info.ino}` : "none";
}

type Tree = Record<string, unknown>;

/** Makes `target` equal to `source` without replacing the objects that others hold. */
function replaceValues(target: Tree, source: Tree): boolean {
  let changed = false;
  for (const key of Object.keys(target)) {
    if (Object.hasOwn(source, key)) continue;
    delete target[key];
    changed = true;
  }
  for (const [key, value] of Object.entries(source)) {
    const old = target[key];
    if (isRecord(old) && isRecord(value)) changed = replaceValues(old, value) || changed;
    else if (JSON.stringify(old) !== JSON.stringify(value)) {
      target[key] = value;
      changed = true;
    }
  }
  return changed;
}

export function openConfigReload(options: ReloadOptions): ConfigReload {
  const { path, config, notice } = options;
  let seen = fileStamp(path);
  let running: Promise<Reloaded> | undefined;
  const reload = async (): Promise<Reloaded> => {
    const stamp = fileStamp(path);
    if (stamp === seen) return { changed: false };
    seen = stamp;
    try {
      const loaded = structuredClone(await options.load());
      return { changed: replaceValues(config as unknown as Tree, loaded as unknown as Tree) };
    } catch (error) {
      const problem = `config.yaml was changed but cannot be used, the old settings stay: ${errorMessage(error)}`;
      notice(problem);
      return { changed: false, problem };
    }
  };
  return {
    refresh: () => {
      running ??= reload().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}
