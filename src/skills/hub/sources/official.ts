// Source `official/<category>/<skill>`: the optional skills that come with Hermes.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../../core/failure.ts";
import { nearest } from "../../../lib/nearest.ts";
import { findIndexFiles } from "../../find.ts";
import { parseSkill } from "../../parse.ts";
import { type Bundle, checkFiles } from "../bundle.ts";
import { entriesBelow } from "../folder-entries.ts";
import { type HubHost, type HubListing, type HubSource, matches } from "../hub-host.ts";

function folders(root: string | null): string[] {
  if (root === null) return [];
  return findIndexFiles(root)
    .filter((file) => file.rel.endsWith("/SKILL.md"))
    .map((file) => file.rel.slice(0, -"/SKILL.md".length));
}

export function officialSource(host: HubHost): HubSource {
  const root = host.optional;
  return {
    id: "official",
    summary: "optional skills that come with Hermes",
    accepts: (identifier) => identifier.startsWith("official/"),
    search: async (query, limit) => {
      const all = await Promise.all(
        folders(root).map(async (folder): Promise<HubListing> => {
          const { header } = await parseSkill(readFileSync(join(root ?? "", folder, "SKILL.md"), "utf8"));
          const { description, tags } = header;
          const name = folder.split("/").at(-1) ?? folder;
          return { name, description, source: "official", identifier: `official/${folder}`, trust: "official", tags };
        }),
      );
      return all.filter((listing) => query === "" || matches(listing, query)).slice(0, limit);
    },
    fetch: async (identifier): Promise<Bundle> => {
      const wanted = identifier.slice("official/".length);
      const known = folders(root);
      const folder = known.find((name) => name === wanted) ?? known.find((name) => name.endsWith(`/${wanted}`));
      if (root === null || folder === undefined) {
        const guess = nearest(wanted, known);
        throw new UserError(
          `there is no official skill "${wanted}"${guess ? `; did you mean official/${guess}?` : ""}`,
          {
            hint: "See: hermes skills browse --source official",
          },
        );
      }
      const parts = folder.split("/");
      return {
        name: parts.at(-1) ?? folder,
        source: "official",
        identifier: `official/${folder}`,
        trust: "official",
        category: parts.length > 1 ? parts[0] : undefined,
        files: checkFiles(entriesBelow(join(root, folder))),
        origin: { version: host.version },
      };
    },
  };
}
