// Configuration → program: opens the store, the models, the guards and the tools; closes them again.
import { join } from "node:path";
import type { Config } from "../config/schema/config.ts";
import type { UsageLedger } from "../core/usage.ts";
import type { App } from "./app.ts";
import { registerBuiltins } from "./builtins.ts";
import type { Home } from "./home.ts";
import { ensureHomeLayout } from "./home-layout.ts";
import { openGuards } from "./open-guards.ts";
import { Registry } from "./registry.ts";
import { asTree, type Services } from "./services.ts";
import { openSettings } from "./settings.ts";
import { openHomeStore } from "./store.ts";

export interface OpenAppOptions {
  /** `worker` for long-running processes. */
  readonly host?: "in-process" | "worker";
  readonly ignoreUserConfig?: boolean;
  /** Configuration for this run only, above every other layer. */
  readonly overrides?: { readonly [key: string]: unknown };
  /** Dangerous commands run without asking; the hardline list still holds. */
  readonly yolo?: boolean;
  onNotice?(text: string): void;
}

async function openLedger(home: Home): Promise<{ ledger: UsageLedger; close(): void }> {
  const [{ openRuntimeDb }, { createUsageLedger }] = await Promise.all([
    import("../store/runtime-db.ts"),
    import("../store/runtime/usage-ledger.ts"),
  ]);
  let close: () => void = () => undefined;
  const ledger = createUsageLedger(() => {
    const db = openRuntimeDb(join(home.path, "runtime.db"));
    close = () => db.close();
    return db;
  });
  return { ledger, close: () => close() };
}

async function openModels(home: Home, config: Config, ledger: UsageLedger, notice: (text: string) => void) {
  const [{ Models }, { readProviderSettings }] = await Promise.all([
    import("../providers/connect.ts"),
    import("../providers/settings.ts"),
  ]);
  return new Models({
    settings: readProviderSettings(asTree(config), home.env),
    env: home.env,
    authPath: join(home.path, "auth.json"),
    ...(home.root === home.path ? {} : { globalAuthPath: join(home.root, "auth.json") }),
    windowCachePath: join(home.path, "context_length_cache.yaml"),
    ledger,
    onTrouble: (error) => notice(error instanceof Error ? error.message : String(error)),
  });
}

function withoutUserConfig(home: Home): Home {
  return { ...home, env: { ...home.env, HERMES_IGNORE_USER_CONFIG: "1" } };
}

export async function openApp(given: Home, options: OpenAppOptions = {}): Promise<App> {
  const home = options.ignoreUserConfig ? withoutUserConfig(given) : given;
  const notice = (text: string) => options.onNotice?.(text);
  ensureHomeLayout(home);
  const { config, warnings } = await openSettings(home).load(options.overrides);
  const [store, { ledger, close: closeLedger }] = await Promise.all([
    openHomeStore(home, { host: options.host ?? "in-process", onNotice: notice }),
    openLedger(home),
  ]);
  const [models, guards] = await Promise.all([
    openModels(home, config, ledger, notice),
    openGuards(home, config, { yolo: options.yolo ?? false }),
  ]);
  const registry = new Registry();
  const services: Services = { home, config, store, ledger, models, ...guards, notice };
  const builtins = registerBuiltins(registry, services);
  let closing: Promise<void> | undefined;
  return {
    home,
    config,
    store,
    ledger,
    registry,
    warnings: warnings.map((warning) => warning.message),
    openConversation: async (wish) => {
      const { openConversationFor } = await import("./open-conversation.ts");
      return openConversationFor({ services, registry, builtins }, wish);
    },
    close: () => {
      closing ??= (async () => {
        await services.workspaces.close();
        await store.close();
        closeLedger();
      })();
      return closing;
    },
  };
}
