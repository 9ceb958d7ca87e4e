// What the hub needs of the program, and what a source of skills can do.
import type { WebFetch } from "../../core/web.ts";
import type { TrustLevel } from "../guard/policy.ts";
import type { Bundle } from "./bundle.ts";

export interface HubHost {
  /** `skills/` of the home. */
  readonly skillsDir: string;
  /** The optional skills that come with the program. */
  readonly optional: string | null;
  /** For addresses that anybody may have written. */
  readonly fetch: WebFetch;
  /** For the services below, whose addresses the person configured. */
  readonly service: WebFetch;
  readonly github: { readonly api: string; readonly raw: string; readonly token?: string | undefined };
  readonly skillsSh: string;
  readonly version: string;
  now(): Date;
}

/** A skill that could be installed. */
export interface HubListing {
  readonly name: string;
  readonly description: string;
  readonly source: string;
  readonly identifier: string;
  readonly trust: TrustLevel;
  readonly tags?: readonly string[] | undefined;
  readonly installs?: number | undefined;
}

/** Trouble is thrown as UserError. */
export interface HubSource {
  readonly id: string;
  readonly summary: string;
  accepts(identifier: string): boolean;
  /** An empty query lists what the source would show first. */
  search(query: string, limit: number): Promise<readonly HubListing[]>;
  fetch(identifier: string): Promise<Bundle>;
}

/** The same world whose requests all end together: a source that drips cannot hold the person for long. */
export function withDeadline(host: HubHost, ms: number): HubHost {
  const signal = AbortSignal.timeout(ms);
  const bounded =
    (fetch: WebFetch): WebFetch =>
    (url, request = {}) =>
      fetch(url, { ...request, signal });
  return { ...host, fetch: bounded(host.fetch), service: bounded(host.service) };
}

/** Every word of the query in the name, the description or the tags. */
export function matches(listing: Pick<HubListing, "name" | "description" | "tags">, query: string): boolean {
  const text = `${listing.name} ${listing.description} ${(listing.tags ?? []).join(" ")}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
