// The settings of a home as a contract: load, inspect, look up, change, check and migrate them. `config/` implements it.
import type { Config } from "./config/config.ts";

/** One problem found in the configuration. */
export interface ConfigWarning {
  readonly kind: "syntax" | "unreadable" | "unknown_key" | "wrong_value" | "structure" | "unset_variable";
  /** Dotted path of the key; empty when the problem concerns the whole file. */
  readonly path: string;
  /** One sentence without secrets. */
  readonly message: string;
  /** Position in config.yaml, counted from 1. */
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly warnings: readonly ConfigWarning[];
  /** The warnings that prevent a start: the file cannot be read, or a setting of security or of the model is wrong. */
  readonly blocking: readonly ConfigWarning[];
  /** config.yaml as written: not merged, not expanded. Empty when the file is missing or broken. */
  readonly raw: { readonly [key: string]: unknown };
  /** Dotted paths that an environment variable set. */
  readonly fromEnvironment: readonly string[];
}

export interface SettingRow {
  readonly path: string;
  /** The effective value; secrets masked. */
  readonly value: unknown;
  /** The source of the value. */
  readonly from: "config.yaml" | "environment" | "default";
}

export interface SettingsCheck {
  readonly problems: readonly ConfigWarning[];
  /** Keys in config.yaml that differ from the default and have no effect here; not problems. */
  readonly withoutEffect: readonly string[];
  /** Layout version of config.yaml, and the newest one. */
  readonly version: number;
  readonly newest: number;
}

/** The result of changing one setting. */
export interface SettingChange {
  /** The key that was set: a dotted path or the name of an environment variable. */
  readonly key: string;
  /** The value that was written; secrets masked. */
  readonly value: unknown;
  readonly file: "config.yaml" | ".env";
  /** A remark for the user, for example a similar name that Hermes does read. */
  readonly hint?: string | undefined;
}

export interface MigrationReport {
  readonly from: number;
  readonly to: number;
  readonly steps: readonly string[];
  readonly moved: readonly { readonly from: string; readonly to: string }[];
  readonly dropped: readonly { readonly path: string; readonly reason: string }[];
  /** Variables in `.env` whose value is cleared. */
  readonly blanked: readonly string[];
  /** Path of the copy made before the migration; null when nothing changed. */
  readonly backup: string | null;
}

export interface Settings {
  /** Path of config.yaml. */
  readonly path: string;
  /** Path of `.env`. */
  readonly envPath: string;
  /**
   * The effective configuration, for code that acts on it. Throws UserError when config.yaml or `.env` cannot be read, or
   * a setting of security or of the model is wrong: falling back to defaults would ignore what the user decided.
   */
  load(overrides?: { readonly [key: string]: unknown }): Promise<LoadedConfig>;
  /** The same for display and repair: never throws; defaults replace what cannot be read. */
  inspect(): Promise<LoadedConfig>;
  /** The value at a dotted path; secrets masked unless `reveal`. Throws UserError for a path that does not exist. */
  get(path: string, options?: { reveal?: boolean | undefined }): Promise<unknown>;
  /** Sets one key from text after checking it; secrets go to `.env`. An invalid value throws UserError and changes nothing. */
  set(path: string, text: string, options?: { force?: boolean | undefined }): Promise<SettingChange>;
  /** Removes one key from config.yaml or `.env`; no change when it is not there. */
  unset(path: string): Promise<void>;
  /** Writes one environment variable to `.env`. */
  setEnv(name: string, value: string): Promise<void>;
  /** Every effective value with its source, secrets masked. */
  rows(): Promise<readonly SettingRow[]>;
  /** Names of the secrets that `.env` sets, with masked values. */
  secrets(): Promise<readonly { readonly name: string; readonly value: string }[]>;
  check(): Promise<SettingsCheck>;
  /** Checks that config.yaml may be edited and creates it, readable by its owner only, when it is missing. */
  prepareEdit(): Promise<void>;
  migrate(): Promise<MigrationReport>;
}
