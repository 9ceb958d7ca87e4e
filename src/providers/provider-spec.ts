// The type of a catalog entry: everything the program knows about a provider.
import type { TransportName } from "../core/model/provider.ts";
import type { ProviderQuirks } from "./quirks.ts";

/** `api_key`: a key in a variable or in the pool. The others are ways to sign in; `none` needs nothing. */
export type AuthKind = "api_key" | "oauth" | "aws" | "subprocess" | "none";

export interface ProviderSpec {
  readonly id: string;
  readonly label: string;
  readonly transport: TransportName;
  /** Empty when the user supplies it. */
  readonly baseUrl: string;
  readonly auth: AuthKind;
  /** Variables that may hold the key; the first one that is set wins. */
  readonly keyVars?: readonly string[] | undefined;
  /** Variables that may replace the base URL. */
  readonly urlVars?: readonly string[] | undefined;
  readonly aliases?: readonly string[] | undefined;
  /** A cheap model for auxiliary tasks. */
  readonly auxModel?: string | undefined;
  /** Used when the provider is chosen and no model is. */
  readonly defaultModel?: string | undefined;
  /** Hosts other than that of `baseUrl` to which the keys of this provider may be sent. */
  readonly extraHosts?: readonly string[] | undefined;
  /** The keys are sent to those hosts only, even when a URL variable or the configuration names another one. */
  readonly strictHosts?: boolean | undefined;
  readonly quirks?: ProviderQuirks | undefined;
  /** Set when the sign-in or the dialect is not supported: what to use instead. */
  readonly instead?: string | undefined;
  /** Runs on this machine or network: needs no key, has no price, and the server reports the window. */
  readonly local?: boolean | undefined;
  /** `auto` never chooses it. */
  readonly explicitOnly?: boolean | undefined;
  /** A remark for the user, for example which plan a key belongs to. */
  readonly note?: string | undefined;
}
