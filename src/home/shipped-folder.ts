// Finds the folders that are shipped with the program (skills, optional skills).
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Home } from "../core/home.ts";

const OVERRIDES: { readonly [folder: string]: string } = {
  skills: "HERMES_BUNDLED_SKILLS",
  "optional-skills": "HERMES_OPTIONAL_SKILLS",
};

/** Beside the nearest package.json above this file; null when the folder was left out of the installation. */
export function shippedFolder(home: Pick<Home, "env">, folder: "skills" | "optional-skills"): string | null {
  const override = home.env[OVERRIDES[folder] ?? ""];
  if (override) return existsSync(override) ? override : null;
  let at = import.meta.dirname;
  for (let up = 0; up < 8; up++) {
    if (existsSync(join(at, "package.json")) && existsSync(join(at, folder))) return join(at, folder);
    at = dirname(at);
  }
  return null;
}
