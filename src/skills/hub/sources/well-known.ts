// Source `https://host/.well-known/skills/`: a site that publishes skills, in both versions of the convention.
import { createHash } from "node:crypto";
import { UserError } from "../../../core/failure.ts";
import { inBatches } from "../../in-batches.ts";
import {
  type Bundle,
  type BundleFile,
  checkFiles,
  decodePercent,
  normalizePath,
  pathMistake,
  skillFolder,
  visiblePath,
} from "../bundle.ts";
import { ask, download, parseJsonBody } from "../download.ts";
import { type HubHost, type HubListing, type HubSource, matches } from "../hub-host.ts";
import { HubRefusal, LIMITS, MIB } from "../refusal.ts";
import { filesFromArchive } from "./archive-files.ts";

const FOLDERS = ["/.well-known/skills/", "/.well-known/agent-skills/"];
const WIDTH = 6;

interface SiteReference {
  /** URL of the folder with index.json, ending in a slash; undefined when only the site is known. */
  readonly base?: string | undefined;
  readonly site: string;
  readonly name?: string | undefined;
}

interface Published {
  readonly name: string;
  readonly description: string;
  /** The older version lists the files next to the index. */
  readonly files: readonly string[];
  /** The newer version has one artefact and its digest. */
  readonly url?: string | undefined;
  readonly digest?: string | undefined;
}

function parse(identifier: string): SiteReference | undefined {
  const text = identifier.replace(/^well-known:/, "");
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined;
  const fragment = url.hash.slice(1);
  const folder = FOLDERS.find((candidate) => url.pathname.includes(candidate));
  const at = folder === undefined ? -1 : url.pathname.indexOf(folder);
  const site = `${url.origin}${at < 0 ? url.pathname.replace(/\/$/, "") : url.pathname.slice(0, at)}`;
  if (folder === undefined) return { site, name: fragment || undefined };
  const rest = url.pathname.slice(at + folder.length).split("/")[0] ?? "";
  const name = fragment || (rest === "index.json" ? "" : decodePercent(rest));
  return { site, base: `${site}${folder}`, name: name || undefined };
}

type Raw = { readonly [key: string]: unknown };

function publishedFrom(value: unknown): Published[] {
  const { name, description, files, url, digest } = (value ?? {}) as Raw;
  if (typeof name !== "string" || name.includes("/") || pathMistake(name)) return [];
  return [
    {
      name,
      description: typeof description === "string" ? description : "",
      files: Array.isArray(files) ? files.filter((file) => typeof file === "string") : [],
      url: typeof url === "string" ? url : undefined,
      digest: typeof digest === "string" ? digest : undefined,
    },
  ];
}

async function readIndex(host: HubHost, reference: SiteReference): Promise<{ base: string; skills: Published[] }> {
  const bases = reference.base ? [reference.base] : FOLDERS.map((folder) => `${reference.site}${folder}`);
  for (const base of bases) {
    const answer = await ask(host.fetch, `${base}index.json`, { maxBytes: 2 * MIB });
    if (answer.status !== 200) continue;
    const { skills } = parseJsonBody(answer) as Raw;
    // After a redirect, files are resolved relative to the final URL of the index.
    const found = new URL(".", answer.url).href;
    return { base: found, skills: Array.isArray(skills) ? skills.flatMap(publishedFrom) : [] };
  }
  throw new UserError(`${reference.site} publishes no skills`, { hint: `Looked for ${bases[0]}index.json` });
}

async function listedFiles(host: HubHost, base: string, skill: Published): Promise<BundleFile[]> {
  const names = skill.files.length > 0 ? skill.files : ["SKILL.md"];
  if (names.length > LIMITS.files) throw new HubRefusal(`refused: more than ${LIMITS.files} files`);
  for (const name of names) {
    const mistake = pathMistake(normalizePath(name));
    if (mistake) throw new HubRefusal(`refused: the path "${visiblePath(name)}" ${mistake}`);
  }
  let total = 0;
  const entries = await inBatches(names, WIDTH, async (name) => {
    const path = [skill.name, ...normalizePath(name).split("/")].map(encodeURIComponent).join("/");
    const { body } = await download(host.fetch, `${base}${path}`);
    total += body.length;
    if (total > LIMITS.total) throw new HubRefusal(`refused: more than ${LIMITS.total} bytes in all`);
    return { path: name, kind: "file" as const, bytes: body };
  });
  return checkFiles(entries);
}

async function artefact(host: HubHost, base: string, skill: Published): Promise<BundleFile[]> {
  const url = new URL(skill.url ?? "", base).href;
  const { body } = await download(host.fetch, url, { maxBytes: LIMITS.download });
  const digest = `sha256:${createHash("sha256").update(body).digest("hex")}`;
  if (skill.digest !== undefined && skill.digest.toLowerCase() !== digest)
    throw new HubRefusal(`refused: ${url} does not have the digest in the index`);
  const unpacked = await filesFromArchive(body, url);
  return unpacked ? skillFolder(unpacked) : checkFiles([{ path: "SKILL.md", kind: "file", bytes: body }]);
}

export function wellKnownSource(host: HubHost): HubSource & { list(site: string): Promise<readonly HubListing[]> } {
  const list = async (site: string): Promise<HubListing[]> => {
    const reference = parse(site);
    if (!reference) throw new UserError(`"${site}" is not a URL`, { exitCode: 2 });
    const { base, skills } = await readIndex(host, reference);
    return skills.map(({ name, description }) => {
      const identifier = `well-known:${base}${name}`;
      return { name, description, source: "well-known", identifier, trust: "community" as const };
    });
  };
  return {
    id: "well-known",
    summary: "sites that publish /.well-known/skills/index.json",
    list,
    accepts: (identifier) =>
      identifier.startsWith("well-known:") ||
      (/^https?:\/\//.test(identifier) && FOLDERS.some((folder) => identifier.includes(folder))),
    // There is no list of sites; `--source URL` lists one of them.
    search: async (query, limit) =>
      /^https?:\/\//.test(query) ? (await list(query)).filter((entry) => matches(entry, "")).slice(0, limit) : [],
    fetch: async (identifier): Promise<Bundle> => {
      const reference = parse(identifier);
      if (!reference) throw new UserError(`"${identifier}" is not a URL`, { exitCode: 2 });
      const { base, skills } = await readIndex(host, reference);
      const names = skills.map((skill) => skill.name).join(", ");
      const name = reference.name ?? (skills.length === 1 ? skills[0]?.name : undefined);
      if (name === undefined)
        throw new UserError(`${reference.site} publishes several skills`, { hint: `Add #NAME to the URL: ${names}` });
      const skill = skills.find((candidate) => candidate.name === name);
      if (!skill) throw new UserError(`${reference.site} has no skill "${name}"`, { hint: `It has: ${names}` });
      const files = skill.url === undefined ? await listedFiles(host, base, skill) : await artefact(host, base, skill);
      const id = `well-known:${base}${name}`;
      return {
        name: name.toLowerCase(),
        source: "well-known",
        identifier: id,
        trust: "community",
        files,
        origin: { index: `${base}index.json` },
      };
    },
  };
}
