// The dependencies of the hub, and the interface of a skill source.
import type { WebFetch } from "../../core/tool/web.ts";
import type { TrustLevel } from "../guard/policy.ts";
import type { Bundle } from "./bundle.ts";

export interface HubHost {
  /** `skills/` of the home. */
  readonly skillsDir: string;
  /** The folder of the optional skills that come with Hermes. */
  readonly optional: string | null;
  /** For untrusted URLs. */
  readonly fetch: WebFetch;
  /** For the services below, whose addresses the user may configure. */
  readonly service: WebFetch;
  readonly github: { readonly api: string; readonly raw: string; readonly token?: string | undefined };
  readonly skillsSh: string;
  readonly version: string;
  now(): Date;
}

/** A skill that can be installed. */
export interface HubListing {
  readonly name: string;
  readonly description: string;
  readonly source: string;
  readonly identifier: string;
  readonly trust: TrustLevel;
  readonly tags?: readonly string[] | undefined;
  readonly installs?: number | undefined;
}

/** Errors are thrown as UserError. */
export interface HubSource {
  readonly id: string;
  readonly summary: string;
  accepts(identifier: string): boolean;
  /** An empty query lists the default results of the source. */
  search(query: string, limit: number): Promise<readonly HubListing[]>;
  fetch(identifier: string): Promise<Bundle>;
}

/** The same host with one deadline for all its requests, so that a slow source cannot block for long. */
export function withDeadline(host: HubHost, ms: number): HubHost {
  const signal = AbortSignal.timeout(ms);
  const bounded =
    (fetch: WebFetch): WebFetch =>
    (url, request = {}) =>
      fetch(url, { ...request, signal });
  return { ...host, fetch: bounded(host.fetch), service: bounded(host.service) };
}

/** True when every word of the query is in the name, the description or the tags. */
export function matches(listing: Pick<HubListing, "name" | "description" | "tags">, query: string): boolean {
  const text = `${listing.name} ${listing.description} ${(listing.tags ?? []).join(" ")}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
