// The built-in plugin as a row of `hermes plugins list --all`.

import { openApp } from "../app/compose.ts";
import { platformEntries } from "../app/platforms.ts";
import type { Home } from "../core/home.ts";
import { BUILTINS } from "../core/tool-registry.ts";
import { CATALOG } from "../providers/catalog.ts";
import { describe } from "./lazy-plugin.ts";
import type { PluginRow } from "./plugin-rows.ts";
import { emptyCollection } from "./registrations.ts";

declare const __HERMES_VERSION__: string | undefined;

export async function builtinRow(home: Home): Promise<PluginRow> {
  const app = await openApp(home);
  try {
    const collected = emptyCollection();
    for (const { tool, owner } of await app.tools())
      if (owner === BUILTINS) collected.tools.push({ tool, override: false });
    const { listSlashCommands } = await import("../app/slash.ts");
    collected.commands.push(...listSlashCommands("terminal"));
    for (const { name } of platformEntries) collected.providers.push({ seam: "platform", provider: { name } });
    for (const { id, label, baseUrl } of CATALOG) collected.modelProviders.push({ name: id, label, baseUrl });
    return {
      key: BUILTINS,
      name: BUILTINS,
      version: typeof __HERMES_VERSION__ === "string" ? __HERMES_VERSION__ : "development",
      description: "What the program brings itself",
      author: "",
      kind: "backend",
      source: "built in",
      dir: import.meta.dirname,
      status: "built in",
      remarks: [],
      missingEnv: [],
      registrations: describe(collected),
      provides: {},
    };
  } finally {
    await app.close();
  }
}
