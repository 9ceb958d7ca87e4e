// Finds the source of an identifier, and searches all sources.
import { UserError } from "../../core/failure.ts";
import type { TrustLevel } from "../guard/policy.ts";
import type { HubHost, HubListing, HubSource } from "./hub-host.ts";
import { githubSource } from "./sources/github.ts";
import { localSource } from "./sources/local.ts";
import { officialSource } from "./sources/official.ts";
import { skillsShSource } from "./sources/skills-sh.ts";
import { urlSource } from "./sources/url.ts";
import { wellKnownSource } from "./sources/well-known.ts";

const RANK: { readonly [trust in TrustLevel]: number } = {
  builtin: 0,
  official: 0,
  trusted: 1,
  community: 2,
  "agent-created": 3,
};

export interface SearchResult {
  readonly listings: readonly HubListing[];
  /** Sources that failed, and why. */
  readonly notes: readonly string[];
}

/** The sources in the order in which identifiers are matched. */
export function hubSources(host: HubHost): readonly HubSource[] {
  return [
    localSource(),
    officialSource(host),
    skillsShSource(host),
    wellKnownSource(host),
    githubPages(host),
    urlSource(host),
    githubSource(host),
  ];
}

/** Treats URLs on github.com as repositories, not pages. */
function githubPages(host: HubHost): HubSource {
  const github = githubSource(host);
  return {
    ...github,
    accepts: (identifier) => /^https?:\/\/(?:www\.)?github\.com\//.test(identifier) && github.accepts(identifier),
    search: async () => [],
  };
}

export function sourceFor(host: HubHost, identifier: string): HubSource {
  const found = hubSources(host).find((source) => source.accepts(identifier));
  if (found) return found;
  throw new UserError(`"${identifier}" is not a skill identifier`, {
    hint: "Give a name, official/CATEGORY/NAME, owner/repo/path, skills-sh/owner/repo/skill, a URL, or a path such as ./my-skill.",
    exitCode: 2,
  });
}

function byTrust(a: HubListing, b: HubListing): number {
  const official = Number(b.source === "official") - Number(a.source === "official");
  return RANK[a.trust] - RANK[b.trust] || official || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

function chosenSources(host: HubHost, wanted: string | undefined): readonly HubSource[] {
  const all = hubSources(host);
  if (wanted === undefined || wanted === "all") return all;
  const named = all.filter((source) => source.id === wanted);
  if (named.length > 0) return named;
  const ids = [...new Set(all.map((source) => source.id))].join(", ");
  throw new UserError(`there is no source "${wanted}"`, {
    hint: `Use one of: ${ids}, or the URL of a site.`,
    exitCode: 2,
  });
}

/** One result per name and origin. Failed sources are reported and do not stop the others. */
export async function searchHub(
  host: HubHost,
  query: string,
  options: { readonly source?: string | undefined; readonly limit: number },
): Promise<SearchResult> {
  const { source, limit } = options;
  if (source !== undefined && /^https?:\/\//.test(source)) {
    const listed = await wellKnownSource(host).list(source);
    return { listings: listed.filter((entry) => entry.name.includes(query)).slice(0, limit), notes: [] };
  }
  const sources = chosenSources(host, source);
  const settled = await Promise.allSettled(sources.map((each) => each.search(query, limit)));
  const notes = settled.flatMap((result, index) =>
    result.status === "rejected" ? [`${sources[index]?.id}: ${String((result.reason as Error).message)}`] : [],
  );
  const known = new Set<string>();
  const listings = settled
    .flatMap((result) => (result.status === "fulfilled" ? result.value : []))
    .filter((listing) => !known.has(listing.identifier) && known.add(listing.identifier))
    .sort(byTrust);
  return { listings: listings.slice(0, limit), notes };
}

/** Resolves a bare name to one skill: the official one, otherwise the only match. */
export async function resolveName(host: HubHost, name: string): Promise<string> {
  const official = await officialSource(host).search("", 1_000);
  const shipped = official.find((listing) => listing.name === name);
  if (shipped) return shipped.identifier;
  const { listings, notes } = await searchHub(host, name, { limit: 200 });
  const same = listings.filter((listing) => listing.name.toLowerCase() === name.toLowerCase());
  const [only] = same;
  if (only && same.length === 1) return only.identifier;
  if (only)
    throw new UserError(`several skills are called "${name}"`, {
      hint: `Choose one:\n${same.map((listing) => `  ${listing.identifier} (${listing.trust})`).join("\n")}`,
    });
  const near = listings.slice(0, 5).map((listing) => `  ${listing.identifier}`);
  throw new UserError(`no skill called "${name}" was found${notes.length > 0 ? ` (${notes.join("; ")})` : ""}`, {
    hint: near.length > 0 ? `Similar ones:\n${near.join("\n")}` : "See: hermes skills browse",
  });
}
