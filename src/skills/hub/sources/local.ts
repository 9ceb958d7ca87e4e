// Source for skills on this machine: a folder, a SKILL.md, or a zip or tar.gz archive, by path or file:// URL.
import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { UserError } from "../../../core/failure.ts";
import { parseSkill } from "../../parse.ts";
import { type Bundle, checkFiles, decodePercent, skillFolder } from "../bundle.ts";
import { entriesBelow } from "../folder-entries.ts";
import type { HubSource } from "../hub-host.ts";
import { LIMITS } from "../refusal.ts";
import { filesFromArchive } from "./archive-files.ts";

const PATH = /^(?:file:\/\/|\/|~\/|\.{1,2}(?:\/|$)|[A-Za-z]:[\\/])/;

function toPath(identifier: string): { path: string; inside: string } {
  const cut = identifier.indexOf("#");
  const place = cut < 0 ? identifier : identifier.slice(0, cut);
  const inside = cut < 0 ? "" : decodePercent(identifier.slice(cut + 1));
  if (place.startsWith("file://")) return { path: fileURLToPath(place), inside };
  return { path: resolve(place.replace(/^~(?=\/)/, homedir())), inside };
}

function missing(path: string): UserError {
  return new UserError(`there is no skill at ${path}`, {
    hint: "Give a folder with a SKILL.md, a SKILL.md, or a zip or tar.gz archive.",
    exitCode: 2,
  });
}

async function filesAt(path: string, inside: string) {
  const info = await stat(path).catch(() => undefined);
  if (!info) throw missing(path);
  if (info.isDirectory()) return skillFolder(checkFiles(entriesBelow(path)), inside);
  if (info.size > LIMITS.download) throw new UserError(`${path} is larger than ${LIMITS.download} bytes`);
  const bytes = await readFile(path);
  const unpacked = await filesFromArchive(bytes, pathToFileURL(path).href);
  if (unpacked) return skillFolder(unpacked, inside);
  if (!/\.(?:md|markdown)$/i.test(path)) throw missing(path);
  return checkFiles([{ path: "SKILL.md", kind: "file" as const, bytes }]);
}

async function nameFor(text: string, path: string): Promise<string> {
  const { header } = await parseSkill(text);
  const stem = basename(path).replace(/\.(?:md|zip|tgz|tar\.gz)$/i, "");
  const folder = /^skill$/i.test(stem) ? basename(dirname(path)) : stem;
  const names = [header.name ?? "", folder].map((name) => name.toLowerCase().replaceAll(" ", "-"));
  return names.find((name) => /^[a-z][a-z0-9._-]*$/.test(name)) ?? "";
}

export function localSource(): HubSource {
  return {
    id: "local",
    summary: "a folder, SKILL.md, zip or tar.gz on this machine",
    accepts: (identifier) => PATH.test(identifier),
    search: async () => [],
    fetch: async (identifier): Promise<Bundle> => {
      const { path, inside } = toPath(identifier);
      const files = await filesAt(path, inside);
      const main = files.find((file) => file.path === "SKILL.md")?.bytes ?? new Uint8Array(0);
      const from = inside === "" ? path : join(path, inside);
      return {
        name: await nameFor(new TextDecoder().decode(main), from),
        source: "local",
        identifier: inside === "" ? path : `${path}#${inside}`,
        trust: "community",
        files,
        origin: { path },
      };
    },
  };
}
