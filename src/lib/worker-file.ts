// Where the entry of a worker thread lies: beside this program, or in the build when this runs from source.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The path of `<name>.js`; undefined when the program was not built. */
export function findWorkerFile(name: string): string | undefined {
  const places = [`./${name}.js`, `../${name}.js`, `../../dist/${name}.js`];
  return places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((file) => existsSync(file));
}
