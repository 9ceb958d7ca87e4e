// Worker threads: finds their entry files (beside the program, or in the build when run from source) and limits their heap.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * For threads that handle small, short-lived rows: garbage is collected early instead of after tens of megabytes.
 */
export const SMALL_WORKER = { resourceLimits: { maxYoungGenerationSizeMb: 6 } } as const;

/** The path of `<name>.js`, or undefined when the program was not built. */
export function findWorkerFile(name: string): string | undefined {
  const places = [`./${name}.js`, `../${name}.js`, `../../dist/${name}.js`];
  return places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((file) => existsSync(file));
}
