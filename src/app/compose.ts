// Builds the program from the configuration: opens every part in the order of their dependencies, and closes them.

import { openSettings } from "../config/api.ts";
import { openConfigReload } from "../config/reload.ts";
import { firstNotice } from "../container/first-notice.ts";
import type { Config } from "../core/config/config.ts";
import type { Home } from "../core/home.ts";
import type { Deliverer } from "../core/job.ts";
import type { UsageLedger } from "../core/store/usage.ts";
import { Registry } from "../core/tool/tool-registry.ts";
import { ensureHomeLayout } from "../home/home-layout.ts";
import { startSpillSweeper } from "../home/spill-sweep.ts";
import { lazy } from "../lib/async/lazy.ts";
import { errorMessage } from "../lib/error-message.ts";
import { McpAccess } from "../mcp/mcp-access.ts";
import { openModels } from "../providers/open-models.ts";
import { SideModels } from "../providers/side-model.ts";
import { smartJudge } from "../providers/smart-judge.ts";
import { LazySkills } from "../skills/lazy-skills.ts";
import type { FullStore } from "../store/full-store.ts";
import { startSessionCleanup } from "../store/session-cleanup.ts";
import type { App } from "./app.ts";
import type { ConversationDeps } from "./builtins.ts";
import { registerBuiltins } from "./builtins.ts";
import { lazyProjectTrust, openGuards } from "./open-guards.ts";
import { type AppLog, openAppLog } from "./open-log.ts";
import { openExtensions, pluginPlatforms, registerPluginTools, withModelProviders } from "./open-plugins.ts";
import {
  ledgerByConversation,
  openAnswerDrafts,
  openHomeStore,
  openLedger,
  openReviewData,
  sessionsDir,
} from "./open-store.ts";
import type { JobAccess, Services } from "./services.ts";

export interface OpenAppOptions {
  /** `worker` for long-running processes. */
  readonly host?: "in-process" | "worker" | undefined;
  /** The session database, when it is not `state.db` of the home. */
  readonly database?: string | undefined;
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
  /** Asks the user about a new shell hook; absent where no user can answer. */
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

/** The log of this process; undefined for a single question, which prints its errors itself. */
function logOf(services: Services, options: OpenAppOptions): AppLog | undefined {
  const { home, config, redactor } = services;
  return options.host === "worker" ? openAppLog(home, config, (text) => redactor.redact(text)) : undefined;
}

type LazyServices = Pick<
  App,
  "prepareInput" | "commands" | "skillCommands" | "skills" | "review" | "tools" | "openConversation"
>;

/** Services whose code is loaded at the first call. */
function lazyServices(deps: ConversationDeps, log: AppLog | undefined): LazyServices {
  const { services, registry } = deps;
  const { plugins } = services;
  const prepareInput: App["prepareInput"] = async (text, opened) =>
    (await import("./prepare-input.ts")).prepareInput(services, text, opened);
  return {
    prepareInput,
    commands: async (surface = "terminal") => {
      const { slashCommands, promptCommands } = await import("./commands/slash.ts");
      const own = slashCommands(deps, surface);
      return [...own, ...(plugins?.commands(own) ?? []), ...(await promptCommands(services))];
    },
    skillCommands: async (platform) => {
      const { skillCommands } = await import("../skills/preload.ts");
      return skillCommands({ skills: services.skills, prepareInput }, platform);
    },
    skills: () => services.skills.open(),
    review: async () => (await import("./open-review.ts")).openReview(deps),
    tools: async () => {
      await registerPluginTools(plugins, registry);
      const { toolStates } = await import("./tool-states.ts");
      return toolStates(deps);
    },
    openConversation: async (options) => {
      await registerPluginTools(plugins, registry);
      const { openConversationFor } = await import("./open-conversation.ts");
      const opened = await openConversationFor(deps, options);
      await log?.observe(opened);
      return opened;
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

/** What surfaces change and observe while the program runs. */
function runtimeControls(
  services: Services,
  registry: Registry,
): Pick<App, "setYolo" | "refreshSettings" | "hasProcesses" | "onProcessEvent"> {
  const { gate, workspaces } = services;
  return {
    setYolo: (sessionId, on) => gate.setYolo(sessionId, on),
    refreshSettings: async () => (await import("./env-refresh.ts")).refreshSettings(services, registry),
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

/** Undefined for the terminal's limit. */
function approvalTimeout(options: OpenAppOptions, config: Config): number | undefined {
  const chats = options.approvals === "gateway" ? config.approvals.gateway_timeout * 1000 : undefined;
  return options.approvalMs ?? chats;
}

interface OpenedServices {
  readonly services: Services;
  readonly store: FullStore;
  readonly jobs: OpenedJobs;
  readonly warnings: readonly string[];
  closeLedger(): void;
  closeReview(): void;
}

/** MCP servers; nothing is imported while none is configured. */
function openMcp(
  {
    home,
    config,
    models,
    redactor,
    containers,
  }: Pick<Services, "home" | "config" | "models" | "redactor" | "containers">,
  notice: (text: string) => void,
): McpAccess {
  return new McpAccess(config.mcp_servers, async () => {
    const { mcpHostDeps } = await import("../mcp/host-deps.ts");
    const redact = (text: string) => redactor.redact(text);
    const side = async () => new SideModels(models, (await models.connect({})).endpoint);
    const contain = async (cwd: string) => {
      const container = await containers.open({ workspace: cwd, credentials: () => [] });
      return (await container?.contain({ cwd, folders: [] }))?.wrapper;
    };
    return { ...mcpHostDeps({ homePath: home.path, cwd: home.cwd, env: home.env, redact, notice, side }), contain };
  });
}

/** Settings, store, plugins, models and guards, in the order in which they depend on each other. */
async function openServices(home: Home, options: OpenAppOptions): Promise<OpenedServices> {
  const notice = (text: string) => options.onNotice?.(text);
  const settings = openSettings(home);
  const { config: loaded, warnings } = await settings.load(options.overrides);
  // An object of this program: slash commands and `reload` change settings while it runs.
  const config = structuredClone(loaded);
  const reload = openConfigReload({
    path: settings.path,
    config,
    notice,
    load: async () => (await settings.load(options.overrides)).config,
  });
  const changes = config.terminal.container === "host" ? undefined : firstNotice(home.path);
  const [store, { ledger, close: closeLedger }, { drafts, close: closeDrafts }] = await Promise.all([
    openHomeStore(home, {
      host: options.host,
      database: options.database,
      indexLayout: config.sessions.index,
      onNotice: notice,
    }),
    options.ledger ? { ledger: options.ledger, close: () => undefined } : openLedger(home),
    openAnswerDrafts(home),
  ]);
  const { hooks, plugins } = await openExtensions(home, config, {
    accept: options.acceptHooks ?? false,
    consent: options.consentToHook,
    notice,
  });
  const models = openModels(home, await withModelProviders(config, plugins), ledgerByConversation(ledger, store), {
    onError: (error) => notice(errorMessage(error)),
  });
  const skills = new LazySkills();
  const guards = await openGuards(home, config, {
    skills,
    yolo: options.yolo ?? false,
    judge: smartJudge(models),
    hooks,
    approvalMs: approvalTimeout(options, config),
  });
  plugins?.provide({ models: async () => models, gate: guards.gate, redactor: guards.redactor });
  const jobs = openJobAccess(home, config);
  const mcp = openMcp({ home, config, models, redactor: guards.redactor, containers: guards.containers }, notice);
  const { trust, proposals, projects: decisions, close: closeReview } = openReviewData(home, store, guards.redactor);
  const projects = lazyProjectTrust(home, config, decisions);
  const base = { home, config, reload, store, ledger, drafts, trust, proposals, projects, models };
  const services: Services = { ...base, plugins, ...guards, skills, mcp, cron: jobs, notice };
  skills.loadWith(async () => (await import("./open-skills.ts")).openSkills(services));
  const closeRuntime = () => {
    closeLedger();
    closeDrafts();
  };
  const shown = [...(changes ? [changes] : []), ...warnings.map((warning) => warning.message)];
  return { services, store, jobs, warnings: shown, closeLedger: closeRuntime, closeReview };
}

export async function openApp(given: Home, options: OpenAppOptions = {}): Promise<App> {
  const home = options.ignoreUserConfig ? withoutUserConfig(given) : given;
  ensureHomeLayout(home);
  const { services, store, jobs, warnings, closeLedger, closeReview } = await openServices(home, options);
  const { config, ledger, hooks, models, plugins, redactor, workspaces } = services;
  const registry = new Registry();
  const builtins = registerBuiltins(registry, services);
  const spills = startSpillSweeper(home, config.tool_output);
  const cleanup = startSessionCleanup(store, {
    sessions: config.sessions,
    sessionsDir: sessionsDir(home),
    now: options.host === "worker",
  });
  const log = logOf(services, options);
  const lazily = lazyServices({ services, registry, builtins }, log);
  const controls = runtimeControls(services, registry);
  const cron = lazy(async () => (await import("./open-cron.ts")).openCron({ ...lazily, ...controls }, services));
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
    ...lazily,
    ...controls,
    pluginPlatforms: () => pluginPlatforms(services),
    cron,
    deliverBy: (deliverer) => jobs.deliverBy(async () => deliverer),
    close: closeOnce([
      async () => (await cron.peek())?.scheduler.stop(),
      () => jobs.close(),
      () => workspaces.close(),
      () => services.containers.close(),
      () => services.mcp.close(),
      () => spills.close(),
      () => plugins?.close(),
      () => builtins.checkpoints.close(),
      () => models.close(),
      () => cleanup.close(),
      () => store.close(),
      closeLedger,
      () => log?.flush(),
      closeReview,
    ]),
  };
  jobs.deliverBy(lazy(async () => (await import("./open-delivery.ts")).openDeliverer(app)));
  return app;
}
