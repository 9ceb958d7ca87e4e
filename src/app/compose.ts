// Configuration → program: opens the store, the models, the guards and the tools; closes them again.
import type { App } from "./app.ts";
import { registerBuiltins } from "./builtins.ts";
import type { Home } from "./home.ts";
import { ensureHomeLayout } from "./home-layout.ts";
import { smartJudge } from "./judge.ts";
import { openLedger } from "./ledger.ts";
import { openGuards } from "./open-guards.ts";
import { Registry } from "./registry.ts";
import type { Services } from "./services.ts";
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
  /** How long a person may take to approve; the terminal's limit when absent. */
  readonly approvalMs?: number;
  onNotice?(text: string): void;
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
  const { openModels } = await import("./models.ts");
  const onTrouble = (error: unknown) => notice(error instanceof Error ? error.message : String(error));
  const models = openModels(home, config, ledger, { onTrouble });
  const guards = await openGuards(home, config, {
    yolo: options.yolo ?? false,
    judge: smartJudge(models),
    ...(options.approvalMs === undefined ? {} : { approvalMs: options.approvalMs }),
  });
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
    setYolo: (sessionId, on) => services.gate.setYolo(sessionId, on),
    prepareInput: async (text, opened) => {
      const { prepareInput } = await import("./prepare-input.ts");
      return prepareInput(services, text, opened);
    },
    tools: async () => {
      const { toolStates } = await import("./tool-states.ts");
      return toolStates({ services, registry, builtins });
    },
    openConversation: async (wish) => {
      const { openConversationFor } = await import("./open-conversation.ts");
      return openConversationFor({ services, registry, builtins }, wish);
    },
    close: () => {
      closing ??= (async () => {
        await services.workspaces.close();
        await builtins.checkpoints.close();
        await models.close();
        await store.close();
        closeLedger();
      })();
      return closing;
    },
  };
}
