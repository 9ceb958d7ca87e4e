// Builds the program from the configuration: opens every part in the order of their dependencies, and closes them.

import { openSettings } from "../config/api.ts";
import type { Home } from "../core/home.ts";
import { Registry } from "../core/tool-registry.ts";
import type { UsageLedger } from "../core/usage.ts";
import { ensureHomeLayout } from "../home/home-layout.ts";
import { startSpillSweeper } from "../home/spill-sweep.ts";
import { errorMessage } from "../lib/error-message.ts";
import type { Models } from "../providers/connect.ts";
import { openModels } from "../providers/open-models.ts";
import { smartJudge } from "../providers/smart-judge.ts";
import type { FullStore } from "../store/full-store.ts";
import type { App } from "./app.ts";
import { registerBuiltins } from "./builtins.ts";
import type { ConversationDeps } from "./conversation-deps.ts";
import { type CronLoaders, LazyCron } from "./lazy-cron.ts";
import { LazySkills } from "./lazy-skills.ts";
import { ledgerByConversation, openLedger } from "./ledger.ts";
import { openGuards } from "./open-guards.ts";
import { openExtensions, pluginPlatforms, readyPlugins, withModelProviders } from "./open-plugins.ts";
import type { Services } from "./services.ts";
import { openHomeStore } from "./store.ts";

export interface OpenAppOptions {
  /** `worker` for long-running processes. */
  readonly host?: "in-process" | "worker" | undefined;
  readonly ignoreUserConfig?: boolean | undefined;
  /** Configuration for this run only, above every other layer. */
  readonly overrides?: { readonly [key: string]: unknown } | undefined;
  /** Dangerous commands run without approval; those on the hardline list are refused nevertheless. */
  readonly yolo?: boolean | undefined;
  /** Time limit of an approval. */
  readonly approvalMs?: number | undefined;
  /** Which configured limit applies when `approvalMs` is absent: that of chats; the terminal's when absent. */
  readonly approvals?: "gateway" | undefined;
  /** Runs shell hooks that were not approved. */
  readonly acceptHooks?: boolean | undefined;
  /** Asks the user about a new shell hook; absent where nobody can answer. */
  readonly consentToHook?:
    | ((hook: { readonly event: string; readonly command: string }) => Promise<boolean>)
    | undefined;
  /** A usage ledger that the caller has open already, for example in a worker. */
  readonly ledger?: UsageLedger | undefined;
  readonly onNotice?: ((text: string) => void) | undefined;
}

function withoutUserConfig(home: Home): Home {
  return { ...home, env: { ...home.env, HERMES_IGNORE_USER_CONFIG: "1" } };
}

type LazyServices = Pick<App, "prepareInput" | "commands" | "skillCommands" | "skills" | "tools" | "openConversation">;

/** Services whose code is loaded at the first call. */
function lazyServices(deps: ConversationDeps): LazyServices {
  const { services, registry } = deps;
  const { plugins } = services;
  const prepareInput: App["prepareInput"] = async (text, opened) =>
    (await import("./prepare-input.ts")).prepareInput(services, text, opened);
  return {
    prepareInput,
    commands: async () => {
      const { slashCommands } = await import("./slash.ts");
      const { aboutSkills } = await import("../commands/skills.ts");
      const { cronSlash } = await import("../commands/cron.ts");
      const own = [...slashCommands, ...aboutSkills(services), cronSlash(services)];
      return [...own, ...(plugins?.commands(own) ?? [])];
    },
    skillCommands: async (platform) => {
      const { skillCommands } = await import("../skills/preload.ts");
      return skillCommands({ skills: services.skills, prepareInput }, platform);
    },
    skills: () => services.skills.open(),
    tools: async () => {
      await readyPlugins(plugins, registry);
      const { toolStates } = await import("./tool-states.ts");
      return toolStates(deps);
    },
    openConversation: async (options) => {
      await readyPlugins(plugins, registry);
      const { openConversationFor } = await import("./open-conversation.ts");
      return openConversationFor(deps, options);
    },
  };
}

/** How scheduled jobs are loaded; their runs open conversations of the program. */
function cronLoaders(app: App, services: Services): CronLoaders {
  const { home, config, cron } = services;
  return {
    deliverer: async () => (await import("../delivery/configured-deliverer.ts")).configuredDeliverer(app),
    repository: async () => {
      const { openJobRepository } = await import("./open-cron.ts");
      return openJobRepository({ home, config, deliverer: () => cron.deliverer() });
    },
    cron: async (repository) => (await import("./open-cron.ts")).openCron(app, services, repository),
  };
}

/** What surfaces change and observe while the program runs. */
function runtimeControls(
  services: Services,
  registry: Registry,
): Pick<App, "setYolo" | "refreshEnv" | "hasProcesses" | "onProcessEvent"> {
  const { gate, workspaces } = services;
  return {
    setYolo: (sessionId, on) => gate.setYolo(sessionId, on),
    refreshEnv: async () => (await import("./env-refresh.ts")).refreshEnv(services, registry),
    hasProcesses: (id) => workspaces.processes.list(id).some((process) => process.endedAt === null),
    onProcessEvent: (listener) => workspaces.onProcessEvent(listener),
  };
}

/** Runs the steps in order, and only once. */
function closeOnce(steps: readonly (() => unknown)[]): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const run = async () => {
    for (const step of steps) await step();
  };
  return () => {
    closing ??= run();
    return closing;
  };
}

/** Settings, store, plugins, models and guards, in the order in which they depend on each other. */
async function openServices(
  home: Home,
  options: OpenAppOptions,
): Promise<{ services: Services; store: FullStore; warnings: readonly string[]; closeLedger(): void }> {
  const notice = (text: string) => options.onNotice?.(text);
  const { config, warnings } = await openSettings(home).load(options.overrides);
  const [store, { ledger, close: closeLedger }] = await Promise.all([
    openHomeStore(home, { host: options.host, indexLayout: config.sessions.index, onNotice: notice }),
    options.ledger ? { ledger: options.ledger, close: () => undefined } : openLedger(home),
  ]);
  const opened: { models?: Models | undefined } = {};
  const { hooks, plugins } = await openExtensions(home, config, {
    accept: options.acceptHooks ?? false,
    consent: options.consentToHook,
    notice,
    models: () => opened.models,
  });
  const models = openModels(home, await withModelProviders(config, plugins), ledgerByConversation(ledger, store), {
    onError: (error) => notice(errorMessage(error)),
  });
  opened.models = models;
  const skills = new LazySkills();
  const guards = await openGuards(home, config, {
    skills,
    yolo: options.yolo ?? false,
    judge: smartJudge(models),
    hooks,
    approvalMs:
      options.approvalMs ?? (options.approvals === "gateway" ? config.approvals.gateway_timeout * 1000 : undefined),
  });
  plugins?.provide({ gate: guards.gate, redactor: guards.redactor });
  const cron = new LazyCron();
  const services: Services = { home, config, store, ledger, models, plugins, ...guards, skills, cron, notice };
  skills.loadWith(async () => (await import("./open-skills.ts")).openSkills(services));
  return { services, store, warnings: warnings.map((warning) => warning.message), closeLedger };
}

export async function openApp(given: Home, options: OpenAppOptions = {}): Promise<App> {
  const home = options.ignoreUserConfig ? withoutUserConfig(given) : given;
  ensureHomeLayout(home);
  const { services, store, warnings, closeLedger } = await openServices(home, options);
  const { config, ledger, hooks, cron, models, plugins, redactor, workspaces } = services;
  const registry = new Registry();
  const builtins = registerBuiltins(registry, services);
  const spills = startSpillSweeper(home, config.tool_output);
  const app: App = {
    home,
    config,
    store,
    handoffs: store,
    topics: store,
    ledger,
    registry,
    hooks,
    warnings,
    redact: (text) => redactor.redact(text),
    ...lazyServices({ services, registry, builtins }),
    ...runtimeControls(services, registry),
    pluginPlatforms: () => pluginPlatforms(services),
    cron: () => cron.open(),
    deliverBy: (deliverer) => cron.deliverBy(deliverer),
    close: closeOnce([
      () => cron.close(),
      () => workspaces.close(),
      () => spills.close(),
      () => plugins?.close(),
      () => builtins.checkpoints.close(),
      () => models.close(),
      () => store.close(),
      closeLedger,
    ]),
  };
  cron.loadWith(cronLoaders(app, services));
  return app;
}
