// Composes the guards of a process: redactor, gate, URL policy, injection scan and workspaces.
import { homedir } from "node:os";
import { join } from "node:path";
import { openSettings } from "../config/api.ts";
import type { Config } from "../core/config/config.ts";
import type { Containers } from "../core/container.ts";
import type { Gate, Judge } from "../core/gate.ts";
import type { Home } from "../core/home.ts";
import { type Hooks, noHooks } from "../core/hook.ts";
import type { ProjectDecisions, ProjectTrust } from "../core/project-trust.ts";
import type { Redactor } from "../core/redactor.ts";
import type { Scan } from "../core/scan.ts";
import type { Skills } from "../core/skill.ts";
import { buildId } from "../home/build-id.ts";
import { lazy } from "../lib/async/lazy.ts";
import { cacheCleanTexts } from "../security/clean-texts.ts";
import type { ApprovalProgram } from "../security/gate/approval-program.ts";
import type { SecurityGate } from "../security/gate/gate.ts";
import { knownSecrets } from "../security/known-secrets.ts";
import { createRedactor } from "../security/redact.ts";
import type { UrlPolicy } from "../security/url-guard.ts";
import { urlPolicy } from "../security/url-policy.ts";
import { backendOpener } from "../tools/terminal/open-backend.ts";
import { Workspaces } from "../tools/terminal/workspaces.ts";
import { backendEnvironments, commandEnvironment } from "./command-environment.ts";
import { openHomeContainers } from "./open-containers.ts";

export interface Guards {
  readonly redactor: Redactor;
  readonly gate: AppGate;
  readonly urls: UrlPolicy;
  readonly hooks: Hooks;
  readonly scan: Scan;
  readonly containers: Containers;
  readonly workspaces: Workspaces;
}

export interface GuardOptions {
  readonly yolo: boolean;
  readonly hooks?: Hooks | undefined;
  /** Time limit for approvals; the terminal's limit when absent. */
  readonly approvalMs?: number | undefined;
  /** Decides in smart mode before the user is asked. */
  readonly judge?: Judge | undefined;
  /** Provides the variables and credential files of loaded skills. */
  readonly skills?: Pick<Skills, "passthrough" | "credentialFiles"> | undefined;
}

/** The gate with the `/yolo` switch. */
export type AppGate = Gate & {
  setYolo(sessionId: string, on: boolean): Promise<void>;
};

const TRUE = /^(1|true|yes|on)$/i;

/** Clean texts are cached only for builds, which have an id. */
async function openScan(home: Home): Promise<Scan> {
  const { scanText } = await import("../security/injection-scan.ts");
  const scan: Scan = (text, source) => scanText(text, { kind: source.startsWith("memory") ? "memory" : "context" });
  const build = buildId();
  if (build === undefined) return scan;
  return cacheCleanTexts(scan, {
    path: join(home.path, "cache", "clean-texts.json"),
    build,
    isTransient: (source) => source.startsWith("web:") || source.startsWith("memory"),
  });
}

interface GateRequest extends GuardOptions {
  readonly hooks: Hooks;
  readonly urls: UrlPolicy;
}

function approvalProgram(home: Home, config: Config): ApprovalProgram | undefined {
  const { program, program_timeout } = config.approvals;
  if (program.trim() === "") return undefined;
  const env = commandEnvironment(home, config);
  return { command: program, timeoutMs: program_timeout * 1000, env, cwd: home.path };
}

async function openGate(home: Home, config: Config, options: GateRequest): Promise<SecurityGate> {
  const [{ createGate }, { createPathGuard }, { parsePolicies }] = await Promise.all([
    import("../security/gate/gate.ts"),
    import("../security/path-guard.ts"),
    import("../security/gate/policies.ts"),
  ]);
  const userHome = home.env.HOME ?? homedir();
  const safeRoot = home.env.HERMES_WRITE_SAFE_ROOT;
  const policy = {
    mode: config.approvals.mode,
    yolo: options.yolo || TRUE.test(home.env.HERMES_YOLO_MODE ?? ""),
    approvalTimeoutMs: options.approvalMs ?? config.approvals.timeout * 1000,
    sudoPassword: Boolean(home.env.SUDO_PASSWORD),
    policies: parsePolicies(config.approvals.policies),
    program: approvalProgram(home, config),
  };
  return createGate({
    userHome,
    hermesHome: home.path,
    pathGuard: createPathGuard({ hermesHome: home.path, userHome, safeRoot: safeRoot || undefined }),
    policy: () => policy,
    urlPolicy: () => options.urls,
    allowlist: config.command_allowlist as readonly string[],
    remember: async (entry) => {
      const settings = openSettings(home);
      const { config: current } = await settings.load();
      await settings.set("command_allowlist", JSON.stringify([...current.command_allowlist, entry]));
    },
    hooks: options.hooks,
    judge: options.judge,
  });
}

/** Loads the gate's rules and grammar at the first check, to keep start-up fast. */
function lazyGate(open: () => Promise<SecurityGate>): AppGate {
  let opening: Promise<SecurityGate> | undefined;
  let opened: SecurityGate | undefined;
  const gate = async () => {
    opening ??= open();
    opened = await opening;
    return opened;
  };
  return {
    check: async (intent, context) => (await gate()).check(intent, context),
    beginTurn: (sessionId) => opened?.beginTurn(sessionId),
    setYolo: async (sessionId, on) => (await gate()).setYolo(sessionId, on),
  };
}

/** The code is loaded when the first file is read. */
export function lazyProjectTrust(home: Home, config: Config, decisions: ProjectDecisions): ProjectTrust {
  const trust = lazy(async () => {
    const { createProjectTrust } = await import("../security/project-trust.ts");
    const trustedRemotes = config.security.trusted_remotes as readonly string[];
    return createProjectTrust({ userHome: home.env.HOME ?? homedir(), trustedRemotes, decisions });
  });
  return { foreignOrigin: async (path) => (await trust()).foreignOrigin(path) };
}

export async function openGuards(home: Home, config: Config, options: GuardOptions): Promise<Guards> {
  const hooks = options.hooks ?? noHooks;
  const redactor = createRedactor({ values: knownSecrets(home, config), enabled: config.security.redact_secrets });
  const urls = urlPolicy(home, config, redactor);
  const containers = openHomeContainers(home, config);
  const openBackend = backendOpener({
    containers,
    home,
    terminal: config.terminal,
    environments: backendEnvironments(home, config),
  });
  return {
    redactor,
    urls,
    hooks,
    containers,
    gate: lazyGate(() => openGate(home, config, { ...options, hooks, urls })),
    scan: await openScan(home),
    workspaces: new Workspaces(
      (cwd, id) =>
        openBackend({
          cwd,
          declared: () => options.skills?.passthrough(id) ?? {},
          credentials: () => options.skills?.credentialFiles(id) ?? [],
        }),
      redactor,
      { idleMs: config.terminal.lifetime_seconds * 1000 },
    ),
  };
}
