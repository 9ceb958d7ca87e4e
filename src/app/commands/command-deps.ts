// Connects the slash commands with the parts of the program; everything is loaded at its first use.
import { join } from "node:path";
import type {
  CheckpointAccess,
  CommandDeps,
  McpAccess,
  ModelAccess,
  PluginAccess,
  ProcessAccess,
  SnapshotAccess,
  ToolAccess,
  ToolsetState,
} from "../../commands/command-deps.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import type { ConversationDeps } from "../builtins.ts";
import type { Services } from "../services.ts";
import { liveSettings } from "./live-settings.ts";

declare const __HERMES_VERSION__: string | undefined;

function modelAccess({ home, models }: Services): ModelAccess {
  const lists = () => import("../../providers/api/model-list.ts");
  const actions = () => import("../../providers/api/models.ts");
  return {
    list: async (signal) => (await lists()).listModels(models, signal),
    refuse: async (choice) => (await lists()).refuseModel(models, choice),
    similar: async (choice) => (await lists()).similarModels(models, choice),
    price: async (identity) => (await lists()).modelPrice(models, identity),
    test: async (choice, signal) => {
      const { failure, hint, totalMs } = await (await actions()).callModel(models, choice, signal);
      return { failure: failure && [failure, hint ?? ""].join(". "), ms: totalMs };
    },
    setDefault: async (choice) => {
      const { openModelsContext } = await import("../open-models.ts");
      return (await (await actions()).setModel(openModelsContext(home), choice)).warning;
    },
  };
}

function checkpointAccess({ home, config }: Services): CheckpointAccess {
  const project = config.terminal.cwd || home.cwd;
  const open = async () => {
    const [{ checkpointHost }, api] = await Promise.all([
      import("../builtins.ts"),
      import("../../tools/checkpoints/api.ts"),
    ]);
    return { host: checkpointHost(home), api };
  };
  return {
    get enabled() {
      return config.checkpoints.enabled;
    },
    list: async () => {
      const found = await (await open()).api.listCheckpoints(home, project);
      const checkpoints = found.snapshots.map(({ id, takenAt, reason }) => ({ id, at: takenAt, reason }));
      return { project: found.project, checkpoints };
    },
    diff: async (id) => {
      const { host, api } = await open();
      return api.diffCheckpoint(host, { id, project });
    },
    restore: async (id, path) => {
      const { host, api } = await open();
      return api.restoreCheckpoint(host, { id, path, project });
    },
  };
}

function toolAccess(deps: ConversationDeps): ToolAccess {
  const { services, registry } = deps;
  const open = async () => {
    const [api, { registerPluginTools }, { toolStates }, { openSettings }] = await Promise.all([
      import("../../tools/api.ts"),
      import("../open-plugins.ts"),
      import("../tool-states.ts"),
      import("../../config/api.ts"),
    ]);
    await registerPluginTools(services.plugins, registry);
    // The configuration of the disk: toolsets may have been switched since the start.
    const settings = openSettings(services.home);
    const { config } = await settings.load();
    return { api, settings, source: { config, registry, tools: () => toolStates(deps) } };
  };
  return {
    list: async (platform) => {
      const { api, source } = await open();
      const states = await source.tools();
      const searched = new Set(states.filter(({ tool }) => tool.searchable).map(({ tool }) => tool.name));
      const sets = await api.listToolsets(source, { platform, all: false });
      const marked = sets.map((set) => ({
        ...set,
        tools: set.tools.map((tool) => ({ ...tool, searched: searched.has(tool.name) })),
      }));
      return [...marked, ...(await mcpToolsets(services))];
    },
    switch: async (platform, change) => {
      const { api, settings, source } = await open();
      return (await api.switchToolsets(source, settings, { platform, ...change })).notes;
    },
  };
}

/** MCP servers as toolsets; `agent.disabled_toolsets` and `no_mcp` switch them off. */
async function mcpToolsets({ mcp }: Services): Promise<readonly ToolsetState[]> {
  const servers = await mcp.open();
  return (servers?.statuses() ?? []).map(({ name, state, reason, tools }) => ({
    name: `mcp-${name}`,
    description: `MCP server, ${state}${reason ? `: ${reason}` : ""}`,
    on: state === "off" ? "no" : "yes",
    fixed: true,
    tools: tools.map((tool) => ({ name: tool, on: state !== "off", reason: null, searched: true })),
  }));
}

function snapshotAccess({ home }: Services): SnapshotAccess {
  const open = () => import("../../backup/api.ts");
  return {
    list: async () => (await open()).listSnapshots(home.path),
    prune: async (keep) => (await open()).pruneSnapshots(home.path, keep),
    create: async (label) => {
      const [api, { copyDatabase, verifyDatabase }, { describeInstallation }] = await Promise.all([
        open(),
        import("../../store/api/copy-database.ts"),
        import("../../install/api/installation.ts"),
      ]);
      const report = await api.backups.make({
        home: home.path,
        target: api.defaultTarget({ home: home.path, userHome: home.path }, true, new Date()),
        quick: true,
        label,
        version: describeInstallation(home).version,
        databases: { copy: copyDatabase, verify: verifyDatabase },
      });
      await api.pruneSnapshots(home.path);
      return { file: report.file, bytes: report.packed };
    },
  };
}

function mcpAccess({ home, mcp }: Services): McpAccess {
  return {
    reload: async () => {
      const { openSettings } = await import("../../config/api.ts");
      const { config } = await openSettings(home).load();
      const servers = await mcp.reload(config.mcp_servers);
      servers?.start("all");
      await servers?.settled();
      return servers?.statuses() ?? [];
    },
  };
}

function pluginAccess({ home }: Services): PluginAccess {
  const open = async () => {
    const [{ createPluginActions }, { openSettings }, { openPluginHost }, { commandEnvironment }] = await Promise.all([
      import("../../plugins/api.ts"),
      import("../../config/api.ts"),
      import("../open-plugins.ts"),
      import("../command-environment.ts"),
    ]);
    return createPluginActions({
      home,
      settings: openSettings(home),
      openHost: (config, notice) => openPluginHost(home, config, { notice }),
      commandEnvironment: (config) => commandEnvironment(home, config),
      builtins: () => Promise.reject(new Error("the commands list plugins only")),
    });
  };
  return {
    list: async () => (await open()).list(),
    setEnabled: async (name, on) => {
      const actions = await open();
      const key = on ? await actions.enable(name) : await actions.disable(name);
      return `${key} is ${on ? "enabled" : "disabled"}.`;
    },
  };
}

function processAccess({ workspaces }: Services): ProcessAccess {
  const running = (id: string) => workspaces.processes.list(id).filter((process) => process.endedAt === null);
  return {
    list: (id) => running(id).map(({ id: name, command, startedAt }) => ({ id: name, command, startedAt })),
    stop: async (id) => {
      const found = running(id);
      await Promise.all(found.map((process) => workspaces.processes.kill(process)));
      return found.length;
    },
  };
}

function jobAccess({ cron }: Services): CommandDeps["jobs"] {
  return async () => {
    const repository = await cron.repository();
    const { actions } = repository;
    return {
      list: () => actions.list(),
      create: (options) => actions.create(options),
      update: (id, options) => actions.update(id, options),
      find: (reference, isVisible) => actions.find(reference, isVisible),
      pause: (id) => actions.pause(id),
      resume: (id) => actions.resume(id),
      trigger: (id) => actions.trigger(id),
      remove: (id) => actions.remove(id),
      tickerProblem: () => repository.tickerProblem(),
    };
  };
}

function skillAccess({ home, skills }: Services): CommandDeps["skills"] {
  return {
    skills: () => skills.open(),
    hub: async () => (await import("../open-skills.ts")).openHubActions(home),
    setEnabled: async (name, on) => {
      const { openSettings } = await import("../../config/api.ts");
      const settings = openSettings(home);
      const before = (await settings.load()).config.skills.disabled as readonly string[];
      const after = on ? before.filter((other) => other !== name) : [...new Set([...before, name])];
      await settings.set("skills.disabled", JSON.stringify(after));
    },
  };
}

async function platformLines({ home }: Services): Promise<readonly string[]> {
  const { askGateway } = await import("../../gateway-control/api/control-socket.ts");
  const status = await askGateway(home, "status");
  if (!status) return ["The gateway does not run. Start it: hermes gateway start"];
  const listed = Array.isArray(status.platforms) ? status.platforms.filter(isRecord) : [];
  if (listed.length === 0) return ["The gateway runs; no platform is set up: hermes gateway setup"];
  return listed.map(
    ({ name, state, reason }) => `${String(name)}: ${String(state)}${reason ? ` (${String(reason)})` : ""}`,
  );
}

export function commandDeps(deps: ConversationDeps): CommandDeps {
  const { services, registry } = deps;
  const { home, redactor } = services;
  return {
    home,
    version: typeof __HERMES_VERSION__ === "string" ? __HERMES_VERSION__ : "development",
    settings: liveSettings(services),
    models: modelAccess(services),
    checkpoints: checkpointAccess(services),
    tools: toolAccess(deps),
    plugins: pluginAccess(services),
    processes: processAccess(services),
    mcp: mcpAccess(services),
    snapshots: snapshotAccess(services),
    jobs: jobAccess(services),
    skills: skillAccess(services),
    review: async () => (await import("../open-review.ts")).openReview(deps),
    reloadEnv: async () => (await (await import("../env-refresh.ts")).refreshSettings(services, registry)).changed,
    platforms: () => platformLines(services),
    redact: (text) => redactor.redact(text),
    saveFile: async (name, text) => {
      const path = join(home.path, name);
      await atomicWrite(path, text);
      return path;
    },
  };
}
