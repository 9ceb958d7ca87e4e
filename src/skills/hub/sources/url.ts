// Source for plain URLs: a SKILL.md, or a zip or tar.gz archive of a skill.
import { UserError } from "../../../core/failure.ts";
import { parseSkill } from "../../parse.ts";
import { type Bundle, checkFiles, decodePercent, skillFolder } from "../bundle.ts";
import { download } from "../download.ts";
import type { HubHost, HubSource } from "../hub-host.ts";
import { LIMITS } from "../refusal.ts";
import { filesFromArchive } from "./archive-files.ts";

const NO_NAMES = new Set(["skill", "readme", "index", "unnamed-skill", ""]);

/** The name from the front matter, otherwise from the folder or file in the URL. */
async function nameFor(text: string, url: URL): Promise<string> {
  const { header } = await parseSkill(text);
  const parts = url.pathname.split("/").filter((part) => part !== "");
  const stem = (parts.at(-1) ?? "").replace(/\.(?:md|zip|tgz|tar\.gz)$/i, "");
  const candidates = [header.name ?? "", stem, parts.at(-2) ?? ""].map((name) => name.toLowerCase());
  return candidates.find((name) => !NO_NAMES.has(name) && /^[a-z][a-z0-9._-]*$/.test(name)) ?? "";
}

export function urlSource(host: HubHost): HubSource {
  return {
    id: "url",
    summary: "the URL of a SKILL.md, zip or tar.gz",
    accepts: (identifier) => /^https?:\/\//.test(identifier),
    search: async () => [],
    fetch: async (identifier): Promise<Bundle> => {
      const url = new URL(identifier);
      const folder = decodePercent(url.hash.slice(1));
      url.hash = "";
      if (url.username !== "" || url.password !== "")
        throw new UserError("the URL contains a user name or password", {
          hint: "Remove it, because the URL is stored.",
        });
      const { body, url: from } = await download(host.fetch, url.href, { maxBytes: LIMITS.download });
      const unpacked = await filesFromArchive(body, url.href);
      if (!unpacked && !/\.(?:md|markdown)$/i.test(url.pathname))
        throw new UserError(`${url.href} is not a SKILL.md, zip or tar.gz`, { exitCode: 2 });
      const files = unpacked
        ? skillFolder(unpacked, folder)
        : checkFiles([{ path: "SKILL.md", kind: "file", bytes: body }]);
      const main = files.find((file) => file.path === "SKILL.md")?.bytes ?? new Uint8Array(0);
      return {
        name: await nameFor(new TextDecoder().decode(main), url),
        source: "url",
        identifier,
        trust: "community",
        files,
        origin: { url: from },
      };
    },
  };
}
