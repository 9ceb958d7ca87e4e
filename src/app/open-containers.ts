// The containers of a home: its settings, skills and secret files decide what commands see.
import { homedir } from "node:os";
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import type { Containers } from "../core/container.ts";
import type { Home } from "../core/home.ts";
import { lazy } from "../lib/async/lazy.ts";

/** Its code is loaded at the first command. */
export function openHomeContainers(home: Home, config: Config): Containers {
  const userHome = home.env.HOME ?? homedir();
  const opened = lazy(async () => {
    const [{ openContainers }, { classifySecretPath, findProtectedRoots }] = await Promise.all([
      import("../container/open-containers.ts"),
      import("../security/protected-paths.ts"),
    ]);
    const places = findProtectedRoots({ hermesHome: home.path, userHome });
    return openContainers({
      hermesHome: home.path,
      userHome,
      setting: config.terminal.container,
      env: home.env,
      roots: [...config.workspace.roots, ...config.terminal.sandbox_writable] as readonly string[],
      readable: [join(home.path, "skills"), join(home.root, "skills")],
      isSecret: (path) => classifySecretPath(path, places) !== null,
    });
  });
  return {
    state: async () => (config.terminal.container === "host" ? { kind: "host" } : (await opened()).state()),
    open: async (request) => (config.terminal.container === "host" ? undefined : (await opened()).open(request)),
    close: async () => (await opened.peek())?.close(),
  };
}
