// One provider as data: everything the program knows about it, in one value.
import type { TransportName } from "../core/provider.ts";
import type { ProviderQuirks } from "./quirks.ts";

/** `api_key`: a key in a variable or in the pool. The others are ways to sign in; `none` needs nothing. */
export type AuthKind = "api_key" | "oauth" | "aws" | "subprocess" | "none";

export interface ProviderSpec {
  readonly id: string;
  readonly label: string;
  readonly transport: TransportName;
  /** Empty when the person supplies it. */
  readonly baseUrl: string;
  readonly auth: AuthKind;
  /** Variables that may hold the key, first hit wins. */
  readonly keyVars?: readonly string[] | undefined;
  /** Variables that may replace the base URL. */
  readonly urlVars?: readonly string[] | undefined;
  readonly aliases?: readonly string[] | undefined;
  /** A cheap model for auxiliary tasks. */
  readonly auxModel?: string | undefined;
  /** Used when the provider is chosen and no model is. */
  readonly defaultModel?: string | undefined;
  /** Hosts beside that of `baseUrl` to which this provider's keys may go. */
  readonly extraHosts?: readonly string[] | undefined;
  /** The keys go to those hosts only, even when a URL variable or the configuration names another one. */
  readonly strictHosts?: boolean | undefined;
  readonly quirks?: ProviderQuirks | undefined;
  /** Set while this way to sign in or this dialect is missing: what to use instead. */
  readonly instead?: string | undefined;
  /** Runs on this machine or network: no key needed, no price, the window is asked of the server. */
  readonly local?: boolean | undefined;
  /** Chosen only by name, never by `auto`. */
  readonly explicitOnly?: boolean | undefined;
  /** Listed for a person, for example which plan a key belongs to. */
  readonly note?: string | undefined;
}
