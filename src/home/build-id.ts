// Identifies the build, for caches that are valid for one build only.
import { statSync } from "node:fs";

declare const __HERMES_VERSION__: string | undefined;

/** Version and time of the build; undefined when running from source. */
export function buildId(): string | undefined {
  if (typeof __HERMES_VERSION__ !== "string") return undefined;
  return `${__HERMES_VERSION__} ${statSync(import.meta.dirname).mtimeMs}`;
}
