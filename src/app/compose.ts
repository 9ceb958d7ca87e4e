// Configuration → program: opens the store, the models, the guards and the tools; closes them again.

import { openSettings } from "../config/api.ts";
import type { Config } from "../core/config/config.ts";
import type { Home } from "../core/home.ts";
import type { Deliverer } from "../core/job.ts";
import { Registry } from "../core/tool-registry.ts";
import type { UsageLedger } from "../core/usage.ts";
import { ensureHomeLayout } from "../home/home-layout.ts";
import { startSpillSweeper } from "../home/spill-sweep.ts";
import { lazy } from "../lib/async/lazy.ts";
import { errorMessage } from "../lib/error-message.ts";
import { openModels } from "../providers/open-models.ts";
import { smartJudge } from "../providers/smart-judge.ts";
import type { App } from "./app.ts";
import { registerBuiltins } from "./builtins.ts";
import type { ConversationDeps } from "./conversation-deps.ts";
import { LazySkills } from "./lazy-skills.ts";
import { ledgerByConversation, openLedger } from "./ledger.ts";
import { openGuards } from "./open-guards.ts";
import { openExtensions, pluginPlatforms, registerPluginTools, withModelProviders } from "./open-plugins.ts";
import type { JobAccess, Services } from "./services.ts";
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
      return skillCommands(services, platform);
    },
    skills: () => services.skills.open(),
    tools: async () => {
      await registerPluginTools(plugins, registry);
      const { toolStates } = await import("./tool-states.ts");
      return toolStates(deps);
    },
    openConversation: async (options) => {
      await registerPluginTools(plugins, registry);
      const { openConversationFor } = await import("./open-conversation.ts");
      return openConversationFor(deps, options);
    },
  };
}

interface OpenedJobs extends JobAccess {
  deliverBy(load: () => Promise<Deliverer>): void;
  close(): Promise<void>;
}

/** The jobs of a home; `deliverBy` must be called before a result is delivered. */
function openJobAccess(home: Home, config: Config): OpenedJobs {
  let load: (() => Promise<Deliverer>) | undefined;
  const deliverer = () => load?.() ?? Promise.reject(new Error("no deliverer was set"));
  const repository = lazy(async () => (await import("./open-cron.ts")).openJobRepository({ home, config, deliverer }));
  return {
    repository,
    deliverer,
    deliverBy: (next) => {
      load = next;
    },
    close: async () => (await repository.peek())?.close(),
  };
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

/** Undefined for the terminal's limit. */
function approvalTimeout(options: OpenAppOptions, config: Config): number | undefined {
  const chats = options.approvals === "gateway" ? config.approvals.gateway_timeout * 1000 : undefined;
  return options.approvalMs ?? chats;
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
  const { hooks, plugins } = await openExtensions(home, config, {
    accept: options.acceptHooks ?? false,
    consent: options.consentToHook,
    notice,
  });
  const models = openModels(home, await withModelProviders(config, plugins), ledgerByConversation(ledger, store), {
    onError: (error) => notice(errorMessage(error)),
  });
  const skills = new LazySkills(async () => (await import("./open-skills.ts")).openSkills(services));
  const guards = await openGuards(home, config, {
    skills,
    yolo: options.yolo ?? false,
    judge: smartJudge(models),
    hooks,
    approvalMs: approvalTimeout(options, config),
  });
  plugins?.provide({ models: async () => models, gate: guards.gate, redactor: guards.redactor });
  const registry = new Registry();
  const jobs = openJobAccess(home, config);
  const services: Services = { home, config, store, ledger, models, plugins, ...guards, skills, cron: jobs, notice };
  const builtins = registerBuiltins(registry, services);
  const spills = startSpillSweeper(home, config.tool_output);
  const lazily = lazyServices({ services, registry, builtins });
  const controls = runtimeControls(services, registry);
  const cron = lazy(async () => (await import("./open-cron.ts")).openCron({ ...lazily, ...controls }, services));
  const app: App = {
    home,
    config,
    store,
    ledger,
    registry,
    hooks,
    warnings: warnings.map((warning) => warning.message),
    redact: (text) => services.redactor.redact(text),
    ...lazily,
    ...controls,
    pluginPlatforms: () => pluginPlatforms(services),
    cron,
    deliverBy: (deliverer) => jobs.deliverBy(async () => deliverer),
    close: onceInOrder([
      async () => (await cron.peek())?.scheduler.stop(),
      () => jobs.close(),
      () => services.workspaces.close(),
      () => spills.close(),
      () => plugins?.close(),
      () => builtins.checkpoints.close(),
      () => models.close(),
      () => store.close(),
      closeLedger,
    ]),
  };
  jobs.deliverBy(lazy(async () => (await import("../delivery/configured-deliverer.ts")).configuredDeliverer(app)));
  return app;
}
