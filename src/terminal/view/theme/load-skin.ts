// Finds skins: those of the program, and YAML files in the home. A file wins over a built-in skin of the same name.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../../lib/error-message.ts";
import { BUILTIN_SKINS, DEFAULT_SKIN } from "./builtin-skins.ts";
import { completeSkin, type PartialSkin, readSkin, type Skin } from "./skin.ts";

export interface SkinEntry {
  readonly name: string;
  readonly description: string;
  readonly source: "built-in" | "file";
}

interface SkinFile {
  readonly skin: PartialSkin;
  readonly problems: readonly string[];
}

const SKIN_FILE = /^[\w-]+\.ya?ml$/;

async function fileNames(home: string): Promise<string[]> {
  const names = await readdir(join(home, "skins")).catch(() => []);
  return names.filter((name) => SKIN_FILE.test(name)).sort();
}

async function readFileSkin(path: string, name: string): Promise<SkinFile> {
  try {
    const { parse } = await import("yaml");
    return readSkin(parse(await readFile(path, "utf8")), name);
  } catch (error) {
    return { skin: { name }, problems: [errorMessage(error).split("\n", 1)[0] ?? ""] };
  }
}

/** All skins, built-in ones first. */
export async function listSkins(home: string): Promise<SkinEntry[]> {
  const files: SkinEntry[] = await Promise.all(
    (await fileNames(home)).map(async (file) => {
      const name = file.replace(SKIN_EXTENSION, "");
      const { skin } = await readFileSkin(join(home, "skins", file), name);
      return { name, description: skin.description ?? "", source: "file" as const };
    }),
  );
  const own = new Set(files.map(({ name }) => name));
  const builtin = BUILTIN_SKINS.filter(({ name }) => !own.has(name ?? "")).map(
    ({ name = "", description = "" }): SkinEntry => ({ name, description, source: "built-in" }),
  );
  return [...builtin, ...files];
}

const SKIN_EXTENSION = /\.ya?ml$/;

export interface LoadedSkin {
  readonly skin: Skin;
  /** What is wrong with the skin or its file, as sentences for the user. */
  readonly problems: readonly string[];
}

/** The skin with this name; the default skin and a problem when there is none. */
export async function loadSkin(home: string, name: string): Promise<LoadedSkin> {
  const file = (await fileNames(home)).find((one) => one.replace(SKIN_EXTENSION, "") === name);
  if (file) {
    const { skin, problems } = await readFileSkin(join(home, "skins", file), name);
    return { skin: completeSkin(skin, DEFAULT_SKIN), problems: problems.map((problem) => `skins/${file}: ${problem}`) };
  }
  const builtin = BUILTIN_SKINS.find((skin) => skin.name === name);
  if (builtin) return { skin: completeSkin(builtin, DEFAULT_SKIN), problems: [] };
  const names = (await listSkins(home)).map((entry) => entry.name).join(", ");
  return { skin: DEFAULT_SKIN, problems: [`there is no skin "${name}" (display.skin); available: ${names}`] };
}
