// What the commands about models need from the rest of the program; app/ provides it.
import type { Config } from "../../core/config/config.ts";
import type { Home } from "../../core/home.ts";
import type { Settings } from "../../core/settings.ts";
import type { UsageLedger } from "../../core/store/usage.ts";

export interface ModelsContext {
  readonly home: Home;
  readonly settings: Settings;
  /** The effective configuration, with the model providers of plugins. `notice` gets the reasons for ignored ones. */
  loadConfig(notice?: (text: string) => void): Promise<Config>;
  /** Opens the ledger for the time of `work`. */
  withLedger<T>(work: (ledger: UsageLedger) => Promise<T>): Promise<T>;
}
