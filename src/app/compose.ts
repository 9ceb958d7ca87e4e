// Configuration → program: opens the store, the models, the guards and the tools; closes them again.

import { openSettings } from "../config/api.ts";
import type { Home } from "../core/home.ts";
import { Registry } from "../core/tool-registry.ts";
import type { UsageLedger } from "../core/usage.ts";
import { ensureHomeLayout } from "../home/home-layout.ts";
import { startSpillSweeper } from "../home/spill-sweep.ts";
import { lazy } from "../lib/async/lazy.ts";
import type { Models } from "../providers/connect.ts";
import { openModels } from "../providers/open-models.ts";
import { smartJudge } from "../providers/smart-judge.ts";
import type { SkillService } from "../skills/skill-service.ts";
import type { App } from "./app.ts";
import { registerBuiltins } from "./builtins.ts";
import type { ConversationDeps } from "./conversation-deps.ts";
import { LazyCron } from "./lazy-cron.ts";
import { ledgerByConversation, openLedger } from "./ledger.ts";
import { openGuards } from "./open-guards.ts";
import { openExtensions, pluginPlatforms, readyPlugins, withModelProviders } from "./open-plugins.ts";
import type { LazySkills, Services } from "./services.ts";
import { openHomeStore } from "./store.ts";

export interface OpenAppOptions {
  /** `worker` for long-running processes. */
  readonly host?: "in-process" | "worker" | undefined;
  readonly ignoreUserConfig?: boolean | undefined;
  /** Configuration for this run only, above every other layer. */
  readonly overrides?: { readonly [key: string]: unknown };
  /** Dangerous commands run without asking; the hardline list still holds. */
  readonly yolo?: boolean | undefined;
  /** How long a person may take to approve; the terminal's limit when absent. */
  readonly approvalMs?: number | undefined;
  /** Whose limit applies when `approvalMs` is absent: that of chats, or the terminal's. */
  readonly approvals?: "gateway" | undefined;
  /** Shell hooks run without having been approved. */
  readonly acceptHooks?: boolean | undefined;
  /** Asks the person about a shell hook that is new; absent where nobody can answer. */
  consentToHook?(hook: { readonly event: string; readonly command: string }): Promise<boolean>;
  /** A record of spending that somebody else keeps open, for example in a worker. */
  readonly ledger?: UsageLedger | undefined;
  onNotice?(text: string): void;
}

function withoutUserConfig(home: Home): Home {
  return { ...home, env: { ...home.env, HERMES_IGNORE_USER_CONFIG: "1" } };
}

type LazyServices = Pick<App, "prepareInput" | "commands" | "skillCommands" | "skills" | "tools" | "openConversation">;

/** What surfaces ask for by name; the code behind each door is loaded when it is first opened. */
function lazyServices(deps: ConversationDeps): LazyServices {
  const { services, registry } = deps;
  const { plugins } = services;
  return {
    prepareInput: async (text, opened) => {
      const { prepareInput } = await import("./prepare-input.ts");
      return prepareInput(services, text, opened);
    },
    commands: async () => {
      const { slashCommands } = await import("./slash.ts");
      const { aboutSkills } = await import("../commands/skills.ts");
      const { cronSlash } = await import("../commands/cron.ts");
      const own = [...slashCommands, ...aboutSkills(services), cronSlash(services)];
      return [...own, ...(plugins?.commands(own) ?? [])];
    },
    skillCommands: async (platform) => {
      const { skillCommands } = await import("../skills/preload.ts");
      const prepareInput: App["prepareInput"] = async (text, opened) =>
        (await import("./prepare-input.ts")).prepareInput(services, text, opened);
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

function lazySkills(load: () => Promise<SkillService>): LazySkills {
  let opened: SkillService | undefined;
  return {
    open: lazy(async () => {
      opened = await load();
      return opened;
    }),
    passthrough: (conversationId) => opened?.passthrough(conversationId) ?? {},
    credentialFiles: (conversationId) => opened?.credentialFiles(conversationId) ?? [],
  };
}

/** The scheduler's door; what stands behind it exists when it is opened, not yet when it is made. */
function lazyCron(late: () => { readonly app: App; readonly services: Services }): LazyCron {
  const channel: LazyCron = new LazyCron({
    deliverer: async () => (await import("../delivery/configured-deliverer.ts")).configuredDeliverer(late().app),
    repository: async () => {
      const { home, config } = late().services;
      return (await import("./open-cron.ts")).openJobRepository({ home, config, deliverer: () => channel.deliverer() });
    },
    cron: async (repository) => (await import("./open-cron.ts")).openCron(late().app, late().services, repository),
  });
  return channel;
}

/** What surfaces ask of a program while it runs. */
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

/** Takes the steps one after the other, once, however often it is called. */
function onceInOrder(steps: readonly (() => unknown)[]): () => Promise<void> {
  let closing: Promise<void> | undefined;
  return () => {
    closing ??= (async () => {
      for (const step of steps) await step();
    })();
    return closing;
  };
}

export async function openApp(given: Home, options: OpenAppOptions = {}): Promise<App> {
  const home = options.ignoreUserConfig ? withoutUserConfig(given) : given;
  const notice = (text: string) => options.onNotice?.(text);
  ensureHomeLayout(home);
  const { config, warnings } = await openSettings(home).load(options.overrides);
  const [store, { ledger, close: closeLedger }] = await Promise.all([
    openHomeStore(home, {
      host: options.host ?? "in-process",
      indexLayout: config.sessions.index,
      onNotice: notice,
    }),
    options.ledger ? { ledger: options.ledger, close: () => undefined } : openLedger(home),
  ]);
  const opened: { models?: Models | undefined } = {};
  const { hooks, plugins } = await openExtensions(home, config, {
    accept: options.acceptHooks ?? false,
    ...(options.consentToHook ? { consent: options.consentToHook } : {}),
    notice,
    models: () => opened.models,
  });
  const onError = (error: unknown) => notice(error instanceof Error ? error.message : String(error));
  const spending = ledgerByConversation(ledger, store);
  const models = openModels(home, await withModelProviders(config, plugins), spending, { onError });
  opened.models = models;
  const skills = lazySkills(async () => (await import("./open-skills.ts")).openSkills(services));
  const guards = await openGuards(home, config, {
    skills,
    yolo: options.yolo ?? false,
    judge: smartJudge(models),
    hooks,
    ...(options.approvals === "gateway" ? { approvalMs: config.approvals.gateway_timeout * 1000 } : {}),
    ...(options.approvalMs === undefined ? {} : { approvalMs: options.approvalMs }),
  });
  plugins?.provide({ gate: guards.gate, redactor: guards.redactor });
  const registry = new Registry();
  const cron = lazyCron(() => ({ app, services }));
  const services: Services = { home, config, store, ledger, models, plugins, ...guards, skills, cron, notice };
  const builtins = registerBuiltins(registry, services);
  const spills = startSpillSweeper(home, config.tool_output);
  const app: App = {
    home,
    config,
    store,
    ledger,
    registry,
    hooks,
    warnings: warnings.map((warning) => warning.message),
    redact: (text) => services.redactor.redact(text),
    ...lazyServices({ services, registry, builtins }),
    ...runtimeControls(services, registry),
    pluginPlatforms: () => pluginPlatforms(services),
    cron: () => cron.open(),
    deliverBy: (deliverer) => cron.deliverBy(deliverer),
    close: onceInOrder([
      () => cron.close(),
      () => services.workspaces.close(),
      () => spills.close(),
      () => plugins?.close(),
      () => builtins.checkpoints.close(),
      () => models.close(),
      () => store.close(),
      closeLedger,
    ]),
  };
  return app;
}
