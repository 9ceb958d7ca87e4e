// The guards of a program: redaction, the gate, the injection scan, and workspaces whose children get a clean environment.
import { homedir } from "node:os";
import type { Config } from "../config/schema/config.ts";
import type { Gate } from "../core/gate.ts";
import { type Hooks, noHooks } from "../core/hook.ts";
import type { Redactor } from "../core/redactor.ts";
import type { Scan } from "../core/scan.ts";
import { createRedactor } from "../security/redact.ts";
import { secretValuesOf } from "../security/secret-names.ts";
import type { Home } from "./home.ts";
import { openBackend } from "./open-backend.ts";
import { openSettings } from "./settings.ts";
import { Workspaces } from "./workspaces.ts";

export interface Guards {
  readonly redactor: Redactor;
  readonly gate: Gate;
  readonly hooks: Hooks;
  readonly scan: Scan;
  readonly workspaces: Workspaces;
}

const TRUE = /^(1|true|yes|on)$/i;

/** Injection rules are loaded at the first text that is scanned. */
async function openScan(): Promise<Scan> {
  const { scanText } = await import("../security/injection-scan.ts");
  return (text, source) => scanText(text, { kind: source.startsWith("memory") ? "memory" : "context" });
}

async function openGate(home: Home, config: Config, options: { yolo: boolean; hooks: Hooks }): Promise<Gate> {
  const [{ createGate }, { createPathGuard }] = await Promise.all([
    import("../security/gate/gate.ts"),
    import("../security/path-guard.ts"),
  ]);
  const userHome = home.env.HOME ?? homedir();
  const safeRoot = home.env.HERMES_WRITE_SAFE_ROOT;
  const policy = {
    mode: config.approvals.mode,
    yolo: options.yolo || TRUE.test(home.env.HERMES_YOLO_MODE ?? ""),
    approvalTimeoutMs: config.approvals.timeout * 1000,
    sudoPassword: Boolean(home.env.SUDO_PASSWORD),
  };
  return createGate({
    userHome,
    hermesHome: home.path,
    pathGuard: createPathGuard({ hermesHome: home.path, userHome, ...(safeRoot ? { safeRoot } : {}) }),
    policy: () => policy,
    urlPolicy: () => ({ allowPrivate: config.security.allow_private_urls }),
    allowlist: config.command_allowlist as readonly string[],
    remember: async (entry) => {
      const settings = openSettings(home);
      const { config: current } = await settings.load();
      await settings.set("command_allowlist", JSON.stringify([...current.command_allowlist, entry]));
    },
    hooks: options.hooks,
  });
}

/** The gate's rules and grammar are loaded at the first question, not at the start of the program. */
function lazyGate(open: () => Promise<Gate>): Gate {
  let opening: Promise<Gate> | undefined;
  let opened: Gate | undefined;
  return {
    check: async (intent, context) => {
      opening ??= open();
      opened = await opening;
      return opened.check(intent, context);
    },
    beginTurn: (sessionId) => opened?.beginTurn(sessionId),
  };
}

export async function openGuards(
  home: Home,
  config: Config,
  options: { yolo: boolean; hooks?: Hooks },
): Promise<Guards> {
  const hooks = options.hooks ?? noHooks;
  const redactor = createRedactor({ values: secretValuesOf(home.env), enabled: config.security.redact_secrets });
  return {
    redactor,
    hooks,
    gate: lazyGate(() => openGate(home, config, { yolo: options.yolo, hooks })),
    scan: await openScan(),
    workspaces: new Workspaces((cwd) => openBackend(home, config, cwd), redactor),
  };
}
