// Worker threads: where the entry of one lies (beside this program, or in the build when this runs from source), and
// how much it may hold.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * For threads that pass small rows on: what they let go of is collected early, instead of after tens of megabytes each.
 */
export const SMALL_WORKER = { resourceLimits: { maxYoungGenerationSizeMb: 6 } } as const;

/** The path of `<name>.js`; undefined when the program was not built. */
export function findWorkerFile(name: string): string | undefined {
  const places = [`./${name}.js`, `../${name}.js`, `../../dist/${name}.js`];
  return places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((file) => existsSync(file));
}
