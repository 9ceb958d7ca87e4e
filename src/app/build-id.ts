// Which build of the program this is, for what is remembered between runs and only holds for one build.
import { statSync } from "node:fs";

declare const __HERMES_VERSION__: string | undefined;

/** Version and time of the built code; undefined when the sources run. */
export function buildId(): string | undefined {
  if (typeof __HERMES_VERSION__ !== "string") return undefined;
  return `${__HERMES_VERSION__} ${statSync(import.meta.dirname).mtimeMs}`;
}
