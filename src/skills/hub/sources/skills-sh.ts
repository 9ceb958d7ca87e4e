// Source `skills-sh/owner/repo/skill`: the skills.sh directory, which refers to GitHub repositories.
import { UserError } from "../../../core/failure.ts";
import { trustLevel } from "../../guard/policy.ts";
import type { Bundle } from "../bundle.ts";
import { download, parseJsonBody } from "../download.ts";
import type { HubHost, HubListing, HubSource } from "../hub-host.ts";
import { MIB } from "../refusal.ts";
import { isRepo } from "../taps.ts";
import { fetchRepoSkill } from "./repo-skill.ts";

const PREFIX = /^(?:skills-sh\/|skills\.sh\/|https?:\/\/(?:www\.)?skills\.sh\/)/;

function parse(identifier: string): { repo: string; skill: string } | undefined {
  const [owner = "", repo = "", ...skill] = identifier.replace(PREFIX, "").replace(/\/$/, "").split("/");
  const name = `${owner}/${repo}`;
  return isRepo(name) && skill.length > 0 ? { repo: name, skill: skill.join("/") } : undefined;
}

type Raw = { readonly [key: string]: unknown };

/** `{ id: "owner/repo/skill", skillId, name, installs, source: "owner/repo" }`. */
function listingFrom(value: unknown): HubListing[] {
  const { source, skillId, name, installs, description } = (value ?? {}) as Raw;
  if (typeof source !== "string" || typeof skillId !== "string" || !isRepo(source)) return [];
  const identifier = `skills-sh/${source}/${skillId}`;
  if (!parse(identifier)) return [];
  return [
    {
      name: typeof name === "string" ? name : skillId,
      description: typeof description === "string" ? description : `from ${source}`,
      source: "skills-sh",
      identifier,
      trust: trustLevel(identifier),
      installs: typeof installs === "number" ? installs : undefined,
    },
  ];
}

export function skillsShSource(host: HubHost): HubSource {
  return {
    id: "skills-sh",
    summary: "the skills.sh directory",
    accepts: (identifier) => PREFIX.test(identifier),
    search: async (query, limit) => {
      // The directory supports search only; it has no full list.
      if (query.trim().length < 2) return [];
      const parameters = new URLSearchParams({ q: query, limit: String(limit) });
      const answer = await download(host.service, `${host.skillsSh}/api/search?${parameters}`, { maxBytes: 2 * MIB });
      const { skills } = parseJsonBody(answer) as Raw;
      return Array.isArray(skills) ? skills.flatMap(listingFrom).slice(0, limit) : [];
    },
    fetch: async (identifier): Promise<Bundle> => {
      const wanted = parse(identifier);
      if (!wanted)
        throw new UserError(`"${identifier}" is not a skills.sh identifier`, {
          hint: "It has the form skills-sh/OWNER/REPO/SKILL.",
          exitCode: 2,
        });
      const { tree, folder, files } = await fetchRepoSkill(host, { repo: wanted.repo }, wanted.skill);
      const id = `skills-sh/${wanted.repo}/${wanted.skill}`;
      return {
        name: (wanted.skill.split("/").at(-1) ?? "").toLowerCase(),
        source: "skills-sh",
        identifier: id,
        trust: trustLevel(id),
        files,
        origin: { repository: wanted.repo, path: folder, ref: tree.ref, tree: tree.sha },
      };
    },
  };
}
