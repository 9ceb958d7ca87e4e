// Many tests work in the home itself, which the container hides from commands and file tools. This machine is their
// boundary; tests of the container use a workspace outside the home.
import { isPathInside } from "../../src/lib/path-inside.ts";

/** Variables for a program that runs in `cwd`. A configured `terminal.container` counts more. */
export function workspaceEnv(home: string, cwd: string): { [name: string]: string } {
  return isPathInside(cwd, home) ? { TERMINAL_CONTAINER: "host" } : {};
}
